import type { ApiKey } from '../../contract/api-keys.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import type { ApiKeyRow } from './api-key-store.ts'

/** The key for administrators (D12): never its secret, never its hash. */
export const apiKeyResource = (row: ApiKeyRow): ApiKey => ({
  id: row.id,
  name: row.name,
  prefix: row.prefix,
  last_four: row.last_four,
  scopes: row.scopes,
  created_at: formatDateTime(row.created_at),
  updated_at: formatDateTime(row.updated_at),
  ...(row.expires_at && { expires_at: formatDateTime(row.expires_at) }),
  ...(row.last_used_at && { last_used_at: formatDateTime(row.last_used_at) }),
  ...(row.revoked_at && { revoked_at: formatDateTime(row.revoked_at) }),
})
