import { makeApiKey } from './api-key-format.ts'
import type { ApiKey } from '../../contract/api-keys.ts'
import type { Queryable } from '../../database/database.ts'
import { newId } from '../../runtime/ids.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import { apiKeyResource } from './api-key-resource.ts'
import { findApiKeyOrganization, insertApiKey, listApiKeyRows } from './api-key-store.ts'

/**
 * Another key with the same rights; its secret is returned only here. The old key works until it is revoked. Throws
 * `OperatorError`.
 */
export const rotateApiKey = async (
  db: Queryable,
  apiKeyId: string,
): Promise<ApiKey & { readonly secret: string }> => {
  const organizationId = await findApiKeyOrganization(db, apiKeyId)
  const rows = organizationId === undefined ? [] : await listApiKeyRows(db, organizationId)
  const old = rows.find(({ id }) => id === apiKeyId)
  if (!old) throw new OperatorError(`There is no API key ${apiKeyId}.`)
  if (old.revoked_at) throw new OperatorError(`Key ${apiKeyId} is revoked: create another.`)
  if (old.expires_at && old.expires_at <= new Date())
    throw new OperatorError(`Key ${apiKeyId} has expired: create another.`)
  const { secret, ...made } = makeApiKey()
  const row = await insertApiKey(db, {
    ...made,
    organizationId: old.organization_id,
    id: newId(),
    name: old.name,
    scopes: old.scopes,
    rateLimits: old.rate_limits,
    expiresAt: old.expires_at?.toISOString(),
  })
  return { ...apiKeyResource(row), secret }
}
