import type { ApiHandler } from '../api-handler.ts'
import { batchResource } from './batch-resource.ts'
import { listApiBatches } from './batch-store.ts'

/** GET /batches: those made through the API, newest first. */
export const listBatches: ApiHandler<'listBatches'> = async ({ query }, { db, organizationId }) => {
  const { limit, cursor, ...filters } = query
  const page = await listApiBatches(db, { organizationId, limit, cursor, filters })
  return { data: page.rows.map(batchResource), next: page.next }
}
