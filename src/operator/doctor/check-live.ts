import type { Config } from '../../config/read-config.ts'
import type { Database } from '../../database/database.ts'
import { countOrganizations } from '../../domains/organizations/organization-store.ts'
import { hasAnyNumber } from '../../domains/numbers/number-store.ts'
import { countTrunks } from '../../domains/trunks/trunk-store.ts'
import { ok, warning, type Finding } from './finding.ts'
import { liveLacks } from '../../live-call/call/live-lacks.ts'
import { liveRemedies } from '../live-remedies.ts'

/** Reports what live organizations wait for. */
export const checkLive = async (
  { sip, engines }: Pick<Config, 'sip' | 'engines'>,
  db: Database,
): Promise<Finding[]> => {
  const live = await countOrganizations(db, 'live').catch(() => 0)
  const stored = await countTrunks(db).catch(() => 0)
  const trunks = Math.max(stored, sip.trunk === undefined ? 0 : 1)
  const hasNumbers = await hasAnyNumber(db).catch(() => false)
  const lacks = liveLacks({ ...sip, trunks, hasNumbers, engines })
  if (live === 0) {
    return trunks === 0
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
      `Calls of ${who} ${whose} (${lack}): ${liveRemedies[lack]}, and start again.`,
    )
  })
}
