import type { ApiKey } from '../../contract/api-keys.ts'
import type { Transaction } from '../../database/database.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import { apiKeyResource } from './api-key-resource.ts'
import { findApiKeyOrganization, revokeApiKeyRow } from './api-key-store.ts'
import { apiKeysChannel } from './principals.ts'

/**
 * Revokes a key permanently. Takes effect at once where notifications arrive, everywhere within a second (D12).
 * Throws `OperatorError`.
 */
export const revokeApiKey = async (tx: Transaction, apiKeyId: string): Promise<ApiKey> => {
  const organizationId = await findApiKeyOrganization(tx, apiKeyId)
  const row = organizationId && (await revokeApiKeyRow(tx, organizationId, apiKeyId))
  if (!row) throw new OperatorError(`There is no API key ${apiKeyId}.`)
  tx.hintAfterCommit(apiKeysChannel, apiKeyId)
  return apiKeyResource(row)
}
