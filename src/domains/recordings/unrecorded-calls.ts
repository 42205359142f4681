import { sql, type Queryable, type Transaction } from '../../database/database.ts'
import type { RecordedCall } from './recording-store.ts'

const markStatement = sql(
  'unrecorded-calls.markUnrecorded',
  `update calls
      set unrecorded = true
    where organization_id = $1
      and id = $2
      and not unrecorded`,
)

/** The call was answered, and was not recorded because its organization or agent wants that. Repeatable. */
export const markUnrecorded = async (
  tx: Transaction,
  { organizationId, callId }: RecordedCall,
): Promise<void> => {
  await tx.run(markStatement, [organizationId, callId])
}

const isStatement = sql(
  'unrecorded-calls.isUnrecorded',
  `select unrecorded
     from calls
    where organization_id = $1
      and id = $2`,
)

export const isUnrecorded = async (
  db: Queryable,
  { organizationId, callId }: RecordedCall,
): Promise<boolean> =>
  (await db.row<{ unrecorded: boolean }>(isStatement, [organizationId, callId]))?.unrecorded ??
  false
