import type { Config } from '../../config/read-config.ts'
import type { Queryable } from '../../database/database.ts'
import { parseTrunkUri, placeOfTrunk } from '../../telephony/trunk-uri.ts'
import { machinePrefix } from '../../dispatch/lease/node-name.ts'
import { listRunningNodes } from './doctor-store.ts'
import { warning, type Finding } from './finding.ts'

/** The groups of which a node and a command must have the same settings. */
type NodeConfig = Pick<Config, 'http' | 'sip' | 'engines'>

/** What a command and the running service have to agree on. None of it is secret: of the trunk only where it is. */
export const nodeSettings = ({
  http,
  sip,
  engines,
}: NodeConfig): Readonly<Record<string, string>> => {
  const settings = {
    OUTDIAL_HOST: http.host,
    OUTDIAL_API_PORT: http.apiPort,
    OUTDIAL_MEDIA_PORT: http.mediaPort,
    OUTDIAL_SIP_TRUNK: sip.trunk === undefined ? undefined : placeOfTrunk(parseTrunkUri(sip.trunk)),
    OUTDIAL_CALLER_ID: sip.callerId,
    OUTDIAL_ENGINE: engines.kind,
  }
  return Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  )
}

/** Which settings of this command differ from those of this machine's nodes; nothing where they agree, or none runs. */
export const checkNodeSettings = async (config: NodeConfig, db: Queryable): Promise<Finding[]> => {
  const nodes = await listRunningNodes(db, machinePrefix()).catch(() => [])
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
