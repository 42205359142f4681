import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Queryable } from '../../database/database.ts'
import { recordChange, type Actor } from '../audit/record-change.ts'
import type { ShownNumber } from './number-resource.ts'

/** Writes a change of a number into the audit log of its organization, in its transaction. */
export const noteNumberChange = (
  tx: Queryable,
  actor: Actor,
  organizationId: OrganizationId,
  action: 'add' | 'change' | 'rest' | 'resume' | 'remove',
  { before, after }: { readonly before?: ShownNumber; readonly after?: ShownNumber },
): Promise<void> =>
  recordChange(tx, {
    organizationId,
    actor,
    action: `number.${action}`,
    target: { type: 'number', id: (after ?? before)?.phone_number ?? null },
    before: before && withoutFigures(before),
    after: after && withoutFigures(after),
  })

const withoutFigures = ({ calls_today: _calls, ...number }: ShownNumber): object => number
