import type { Database } from '../database/database.ts'
import { countOrganizations } from '../domains/organizations/organization-store.ts'
import { ok, warning, type Finding } from './finding.ts'
import { liveLacks, remedies, type LiveConfig } from './live-needs.ts'

/** What live organizations wait for; nothing where there is none, or no table of them yet. */
export const checkLive = async (config: LiveConfig, db: Database): Promise<Finding[]> => {
  const live = await countOrganizations(db, 'live').catch(() => 0)
  const lacks = liveLacks(config)
  if (live === 0) {
    return config.OUTDIAL_SIP_TRUNK === undefined
      ? []
      : [
          warning(
            'live',
            'No organization is live, so that nothing is dialled over the trunk: make one with `./outdial org create --name NAME --mode live`.',
          ),
        ]
  }
  if (lacks.length === 0) return [ok('live', `${live} live, with trunk, caller ID and engine.`)]
  const who = live === 1 ? 'the live organization' : `the ${live} live organizations`
  return lacks.map((lack) => {
    const whose = lack === 'no_engine' ? 'whose agents have no engine of their own wait' : 'wait'
    return warning(
      'live',
      `Calls of ${who} ${whose} (${lack}): ${remedies[lack]}, and start again.`,
    )
  })
}
