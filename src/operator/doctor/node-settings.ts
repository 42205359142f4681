import type { Config } from '../../config/read-config.ts'
import type { Queryable } from '../../database/database.ts'
import { parseTrunkUri, placeOfTrunk } from '../../telephony/trunk-uri.ts'
import { machinePrefix } from '../../dispatch/lease/node-name.ts'
import { listRunningNodes } from './doctor-store.ts'
import { warning, type Finding } from './finding.ts'

/** Groups in which a node and a command must have the same settings. */
type NodeConfig = Pick<Config, 'http' | 'sip' | 'engines'>

/** Settings that a command and the running service must share. None is secret: of the trunk it has host and port only. */
export const nodeSettings = ({
  http,
  sip,
  engines,
}: NodeConfig): Readonly<Record<string, string>> => {
  const settings = {
    OUTDIAL_HOST: http.host,
    OUTDIAL_API_PORT: http.apiPort,
    OUTDIAL_DASHBOARD_PORT: http.dashboardPort,
    // A URL may hold a password; its origin does not.
    OUTDIAL_PUBLIC_DASHBOARD_URL:
      http.publicDashboardUrl === undefined ? undefined : new URL(http.publicDashboardUrl).origin,
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

/** Warns of settings that differ between this command and the running nodes of this machine. */
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
