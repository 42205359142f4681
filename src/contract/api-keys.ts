import { z } from 'zod'
import { dateTime, opaqueId, text } from './fields.ts'
import { scopes } from './scopes.ts'

/** An API key as administrators see it; the secret is shown once, at creation (D12). */
export const apiKey = z
  .strictObject({
    id: opaqueId,
    name: text(1, 200),
    prefix: z.string(),
    last_four: z.string().length(4),
    scopes: z.array(z.enum(scopes)),
    created_at: dateTime,
    updated_at: dateTime,
    expires_at: dateTime.optional(),
    last_used_at: dateTime.optional(),
    revoked_at: dateTime.optional(),
  })
  .meta({ id: 'ApiKey' })

export type ApiKey = z.output<typeof apiKey>

/**
 * Paths that only an administrator's session may use. A bearer key gets 403 `insufficient_scope` there and below,
 * if the service knows the method there, and 405 otherwise (D14).
 */
export const administratorArea = {
  path: '/api-keys',
  methods: ['GET', 'POST', 'PATCH'],
  bucket: 'write',
} as const
