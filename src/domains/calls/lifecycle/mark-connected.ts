import { sql, type Queryable } from '../../../database/database.ts'
import { fenceValues, type CallFence } from './call-fence.ts'
import { heldBy } from './call-fragments.ts'
import { statesBefore } from './call-states.ts'

const markStatement = sql(
  'mark-connected.markConnected',
  `update calls
      set status       = 'in_progress',
          connected_at = coalesce(connected_at, greatest(dialing_at, $4::timestamptz)),
          unrecorded   = not $6::boolean,
          updated_at   = now()
    where organization_id = $1
      and id = $2
      and ${heldBy('$3')}
      and status = any($5)`,
)

/**
 * `dialing` → `in_progress`, with whether it is recorded. Repeatable. False: this node no longer holds the call.
 */
export const markConnected = async (
  db: Queryable,
  fence: CallFence,
  connectedAt: Date,
  isRecorded = true,
): Promise<boolean> =>
  (await db.run(markStatement, [
    ...fenceValues(fence),
    connectedAt,
    [...statesBefore('in_progress'), 'in_progress'],
    isRecorded,
  ])) > 0
