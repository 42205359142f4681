import type { Database } from '../../src/database/database.ts'
import { claimCalls, type ClaimedCall } from '../../src/dispatch/claim/claim-calls.ts'
import { newId } from '../../src/runtime/ids.ts'
import { execute, insertNode } from './queue-fixtures.ts'

/** Up to `limit` due calls claimed by a node of its own, whatever trunks and pace take. */
export const claimDespiteTrunks = async (db: Database, limit: number): Promise<ClaimedCall[]> => {
  await execute(
    db,
    `update routes
        set channels = null, down_since = null, down_cause = null, down_reason = null, burst = 1000, tokens = 1000
      where name = 'env'`,
  )
  await execute(db, 'update trunks set burst = 1000, tokens = 1000')
  await execute(db, 'update dispatch_organizations set ready = true')
  const nodeId = newId()
  await insertNode(db, nodeId)
  return [...(await claimCalls(db, { nodeId, route: 'env', limit, except: [] })).calls]
}
