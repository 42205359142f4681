import type { ApiKey } from '../../contract/api-keys.ts'
import type { Queryable } from '../../database/database.ts'
import { checkName } from '../organizations/create-organization.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import { apiKeyResource } from './api-key-resource.ts'
import { findApiKeyOrganization, renameApiKeyRow } from './api-key-store.ts'

/** Renames a key; its name is the only thing that can be edited (D12). Throws `OperatorError`. */
export const renameApiKey = async (
  db: Queryable,
  apiKeyId: string,
  name: string,
): Promise<ApiKey> => {
  const trimmed = checkName(name, 200)
  const organizationId = await findApiKeyOrganization(db, apiKeyId)
  const row = organizationId && (await renameApiKeyRow(db, organizationId, apiKeyId, trimmed))
  if (!row) throw new OperatorError(`There is no API key ${apiKeyId}.`)
  return apiKeyResource(row)
}
