import type { ProtocolError } from './protocol.ts'

/** Why a protocol session ended before it was closed. */
export interface LinkLoss {
  readonly code: string
  readonly message: string
  /** Another session would fail the same way. */
  readonly isFinal: boolean
}

/** Errors that make reconnecting pointless. */
const finalCodes = new Set([
  'invalid_api_key',
  'insufficient_quota',
  'model_not_found',
  'account_deactivated',
  'response_failed',
])

export const isFinalCode = (code: string): boolean => finalCodes.has(code)

export const lossOf = (code: string, message: string): LinkLoss => ({
  code,
  message,
  isFinal: isFinalCode(code),
})

export const codeOf = (error: ProtocolError): string => error.code ?? error.type ?? 'unknown'

/** Whether this error ends the session. After any other error it continues, or its socket ends. */
export const endsSession = (code: string): boolean =>
  isFinalCode(code) || code === 'session_expired'
