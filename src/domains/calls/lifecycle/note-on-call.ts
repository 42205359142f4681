import { sql, type Queryable } from '../../../database/database.ts'
import { fenceValues, type CallFence } from './call-fence.ts'
import { decisionFragment, heldBy } from './call-fragments.ts'

const noteStatement = sql(
  'note-on-call.noteOnCall',
  `update calls
      set ${decisionFragment({ decision: '$4', reason: '$5' })},
          updated_at = now()
    where organization_id = $1
      and id = $2
      and ${heldBy('$3')}`,
)

/** Appends to the decisions of a live call what happened to it. False: this node no longer holds the call. */
export const noteOnCall = async (
  db: Queryable,
  fence: CallFence,
  { decision, reason }: { readonly decision: string; readonly reason?: string },
): Promise<boolean> =>
  (await db.run(noteStatement, [...fenceValues(fence), decision, reason ?? null])) > 0
