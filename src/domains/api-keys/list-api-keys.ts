import type { ApiKey } from '../../contract/api-keys.ts'
import type { Queryable } from '../../database/database.ts'
import { apiKeyResource } from './api-key-resource.ts'
import { listApiKeyRows } from './api-key-store.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** An organization's keys, also revoked ones, newest first. */
export const listApiKeys = async (
  db: Queryable,
  organizationId: OrganizationId,
): Promise<ApiKey[]> => (await listApiKeyRows(db, organizationId)).map(apiKeyResource)
