import type { ApiKey } from '../../contract/api-keys.ts'

/** What the audit log keeps of a key. */
export const auditedKey = ({ id, name, prefix, scopes, expires_at: expiresAt }: ApiKey) => ({
  id,
  name,
  prefix,
  scopes,
  ...(expiresAt !== undefined && { expires_at: expiresAt }),
})
