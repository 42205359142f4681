import type { ProtocolError } from './protocol.ts'

/** Why a session of the protocol ended before it was closed. */
export interface LinkLoss {
  readonly code: string
  readonly message: string
  /** Another session would fare no better. */
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

export const lossOf = (code: string, message: string): LinkLoss => ({
  code,
  message,
  isFinal: finalCodes.has(code),
})

export const codeOf = (error: ProtocolError): string => error.code ?? error.type ?? 'unknown'

/** Whether the session is over with this error. After any other it goes on, or its socket ends. */
export const endsSession = (code: string): boolean =>
  finalCodes.has(code) || code === 'session_expired'
