import { ApiError } from '../../contract/api-error.ts'
import type { Principal } from '../../contract/principal.ts'
import type { Scope } from '../../contract/scopes.ts'

/** Throws 403 unless the key has one of the scopes; the message names them (D9). */
export const requireScope = ({ scopes }: Principal, anyScope: readonly Scope[]): void => {
  if (!anyScope.some((scope) => scopes.includes(scope)))
    throw new ApiError(
      'insufficient_scope',
      `This API key lacks the scope ${anyScope.join(' or ')}.`,
    )
}

/** What a bearer key meets where only an administrator's session may go (D14). */
export const administratorOnly = (): ApiError =>
  new ApiError('insufficient_scope', 'API keys are managed in an administrator’s session only.')
