import type { OrganizationId } from '../../contract/organization-id.ts'
import type { ApiKey } from '../../contract/api-keys.ts'
import { notFound } from '../../contract/api-error.ts'
import type { administratorOperations } from '../../contract/console/operations.ts'
import type { Handler } from '../../contract/define-operation.ts'
import type { Queryable, Transaction } from '../../database/database.ts'
import { findApiKeyOrganization } from '../../domains/api-keys/api-key-store.ts'
import { auditedKey } from '../../domains/api-keys/audited-key.ts'
import { createApiKey as create } from '../../domains/api-keys/create-api-key.ts'
import { listApiKeys as list } from '../../domains/api-keys/list-api-keys.ts'
import { renameApiKey as rename } from '../../domains/api-keys/rename-api-key.ts'
import { revokeApiKey as revoke } from '../../domains/api-keys/revoke-api-key.ts'
import { rotateApiKey as rotate } from '../../domains/api-keys/rotate-api-key.ts'
import { asTold, note, type ConsoleHandler } from '../console-handler.ts'

export const listApiKeys: ConsoleHandler<'listApiKeys'> = async (
  _input,
  { db, organizationId },
) => ({ data: await list(db, organizationId) })

export const createApiKey: ConsoleHandler<'createApiKey'> = async ({ body }, context) => {
  const { db, organizationId } = context
  const made = await asTold(
    create(db, {
      organizationId,
      name: body.name,
      scopes: body.scopes,
      ...(body.expires_at !== undefined && { expiresAt: body.expires_at }),
    }),
  )
  await note(db, context, {
    action: 'api_key.create',
    target: { type: 'api_key', id: made.id },
    after: auditedKey(made),
  })
  return made
}

/** PATCH /api-keys/{api_key_id}, on the API's port and on the dashboard's (D12, D18). */
export const updateApiKey: Handler<
  (typeof administratorOperations)['updateApiKey'],
  Queryable,
  Transaction
> = async ({ params, body }, context) => {
  const { db, organizationId } = context
  const before = await requireKey(db, organizationId, params.api_key_id)
  const renamed = await asTold(rename(db, before.id, body.name))
  await note(db, context, {
    action: 'api_key.rename',
    target: { type: 'api_key', id: renamed.id },
    before: { name: before.name },
    after: { name: renamed.name },
  })
  return renamed
}

export const renameApiKey: ConsoleHandler<'renameApiKey'> = updateApiKey

export const rotateApiKey: ConsoleHandler<'rotateApiKey'> = async ({ params }, context) => {
  const { db, organizationId } = context
  const old = await requireKey(db, organizationId, params.api_key_id)
  const made = await asTold(rotate(db, old.id))
  await note(db, context, {
    action: 'api_key.rotate',
    target: { type: 'api_key', id: made.id },
    before: auditedKey(old),
    after: auditedKey(made),
  })
  return made
}

export const revokeApiKey: ConsoleHandler<'revokeApiKey'> = async ({ params }, context) => {
  const { db, organizationId } = context
  const before = await requireKey(db, organizationId, params.api_key_id)
  const revoked = await asTold(revoke(db, before.id))
  await note(db, context, {
    action: 'api_key.revoke',
    target: { type: 'api_key', id: before.id },
    before: auditedKey(before),
  })
  return revoked
}

const requireKey = async (
  db: Queryable,
  organizationId: OrganizationId,
  apiKeyId: string,
): Promise<ApiKey> => {
  if ((await findApiKeyOrganization(db, apiKeyId)) !== organizationId) throw notFound()
  const key = (await list(db, organizationId)).find(({ id }) => id === apiKeyId)
  if (!key) throw notFound()
  return key
}
