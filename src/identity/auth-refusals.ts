import { APIError } from 'better-auth/api'
import { ApiError, invalidField } from '../contract/api-error.ts'

const wrongCredentials = (): ApiError =>
  new ApiError('authentication_required', 'The e-mail address, the password or the code is wrong.')

/** What better-auth refuses, as this service says it. */
export const told = async <T>(work: () => Promise<T>, wrong = wrongCredentials): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw error instanceof APIError ? refusalOf(error, wrong) : error
  }
}

const refusalOf = (error: APIError, wrong: () => ApiError): Error => {
  const code = (error.body as { code?: string } | undefined)?.code ?? ''
  if (code === 'ACCOUNT_TEMPORARILY_LOCKED')
    return new ApiError(
      'rate_limit_exceeded',
      'Too many codes were wrong. Wait, then try again.',
      undefined,
      { retryAfterSeconds: 900 },
    )
  if (code === 'PASSWORD_TOO_SHORT') return invalidField('password', 'too_short')
  if (code === 'PASSWORD_TOO_LONG') return invalidField('password', 'too_long')
  if (/TOTP|TWO_FACTOR_NOT|BACKUP_CODES_NOT/.test(code) && code.includes('ENABLED'))
    return new ApiError(
      'resource_state_conflict',
      code === 'TOTP_ALREADY_ENABLED'
        ? 'The second factor is set up already.'
        : 'There is no second factor to do this with.',
    )
  if (error.statusCode >= 500) return error
  return wrong()
}
