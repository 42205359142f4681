import type { OrganizationId } from '../../contract/organization-id.ts'
import { sql, type Queryable } from '../../database/database.ts'
import { recordChange, type Actor } from '../audit/record-change.ts'
import type { ShownTrunk } from './trunk-resource.ts'

const firstStatement = sql(
  'note-trunk-change.firstOrganization',
  `select id
     from organizations
    order by created_at, id
    limit 1`,
)

/** A trunk belongs to no organization: its changes stand in the log of the installation's first one. */
export const noteTrunkChange = async (
  tx: Queryable,
  actor: Actor,
  action: 'add' | 'change' | 'pause' | 'resume' | 'remove',
  name: string,
  { before, after }: { readonly before?: ShownTrunk; readonly after?: ShownTrunk },
): Promise<void> => {
  const first = await tx.row<{ id: OrganizationId }>(firstStatement, [])
  if (first === undefined) return
  await recordChange(tx, {
    organizationId: first.id,
    actor,
    action: `trunk.${action}`,
    target: { type: 'trunk', id: name },
    before: before && settingsOf(before),
    after: after && settingsOf(after),
  })
}

/** What was set, without how the trunk is at the moment. */
const settingsOf = ({
  gateways: _gateways,
  registrations: _registrations,
  live_calls: _live,
  paced_cps: _paced,
  congested_since: _since,
  state: _state,
  reason: _reason,
  ...settings
}: ShownTrunk): object => settings
