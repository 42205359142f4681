import { sql, type Queryable } from '../database/database.ts'

const requestedStatement = sql(
  'cancellations.requested',
  `select id
     from calls
    where node_id = $1
      and lease_token is not null
      and cancel_requested_at is not null`,
)

/** Live calls of this node with a cancellation request. */
export const requestedCancellations = async (
  db: Queryable,
  nodeId: string,
): Promise<readonly string[]> =>
  (await db.rows<{ id: string }>(requestedStatement, [nodeId])).map((row) => row.id)
