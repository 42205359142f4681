/** What an API key may do. Deny by default; write never includes read (contract, "Authentication" 8). */
export const scopes = [
  'contacts:read',
  'contacts:write',
  'calls:read',
  'calls:write',
  'batches:read',
  'batches:write',
  'automations:read',
  'automations:run',
  'transcripts:read',
  'recordings:read',
] as const

export type Scope = (typeof scopes)[number]
