import { hostname } from 'node:os'
import type { Config } from '../config.ts'
import { sql, type Queryable } from '../database/database.ts'
import { parseTrunkUri } from '../telephony/trunk-uri.ts'
import { warning, type Finding } from './finding.ts'

/** What a command and the running service have to agree on. None of it is secret: of the trunk only where it is. */
export const nodeSettings = (config: Config): Readonly<Record<string, string>> => {
  const trunk =
    config.OUTDIAL_SIP_TRUNK === undefined ? undefined : parseTrunkUri(config.OUTDIAL_SIP_TRUNK)
  const settings = {
    OUTDIAL_HOST: config.OUTDIAL_HOST,
    OUTDIAL_API_PORT: config.OUTDIAL_API_PORT,
    OUTDIAL_MEDIA_PORT: config.OUTDIAL_MEDIA_PORT,
    OUTDIAL_SIP_TRUNK: trunk && [trunk.host, trunk.port].filter((part) => part).join(':'),
    OUTDIAL_CALLER_ID: config.OUTDIAL_CALLER_ID,
    OUTDIAL_ENGINE: config.OUTDIAL_ENGINE,
  }
  return Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  )
}

const runningStatement = sql(
  'node-settings.running',
  `select name, settings
     from nodes
    where lease_until > clock_timestamp()
      and settings <> '{}'
      and starts_with(name, $1)
    order by started_at desc
    limit 100`,
)

interface RunningNode {
  readonly name: string
  readonly settings: Readonly<Record<string, string>>
}

/** Which settings of this command differ from those of this machine's nodes; nothing where they agree, or none runs. */
export const checkNodeSettings = async (config: Config, db: Queryable): Promise<Finding[]> => {
  const nodes = await db.rows<RunningNode>(runningStatement, [`${hostname()}-`]).catch(() => [])
  const ours = nodeSettings(config)
  return nodes.flatMap(({ name, settings }) => {
    const names = [...new Set([...Object.keys(ours), ...Object.keys(settings)])]
    const different = names.filter((setting) => ours[setting] !== settings[setting]).toSorted()
    return different.length === 0
      ? []
      : [
          warning(
            'settings',
            `The node ${name} runs with another ${different.join(', ')} than this command sees, so that what follows describes this command's settings: run it in the environment of the service, or put the settings into .env.`,
          ),
        ]
  })
}
