import { ApiError } from '../../contract/api-error.ts'
import type { Operation } from '../../contract/define-operation.ts'
import type { Principal } from '../../contract/principal.ts'

/** Throws 403 where a key's organization has its access to the API switched off. A login needs none. */
export const requireEnabledOrganization = (principal: Principal): void => {
  if (principal.kind === 'key' && !principal.publicApiEnabled)
    throw new ApiError(
      'organization_not_enabled',
      'API access is not enabled for this organization. An administrator can enable it.',
    )
}

/** Throws 401 for a visitor where the operation is not open, 403 unless the key has one of the operation's scopes, or the login one of its roles; the message names them (D9). */
export const requireAccess = (
  principal: Principal,
  {
    anyScope,
    anyRole,
    open,
    ofInstallation,
  }: Pick<Operation, 'anyScope' | 'anyRole' | 'open' | 'ofInstallation'>,
): void => {
  if (open) return
  if (principal.kind === 'visitor') throw signInFirst()
  if (principal.kind === 'session') {
    if (ofInstallation && !principal.administersInstallation) throw installationOnly()
    if (anyRole.includes(principal.role)) return
    throw new ApiError('insufficient_scope', roleMessage(anyRole))
  }
  if (anyScope.length === 0) throw administratorOnly()
  if (!anyScope.some((scope) => principal.scopes.includes(scope)))
    throw new ApiError(
      'insufficient_scope',
      `This API key lacks the scope ${anyScope.join(' or ')}.`,
    )
}

const roleMessage = (anyRole: Operation['anyRole']): string =>
  anyRole.length === 0
    ? 'This operation is for API keys only.'
    : `This operation needs the role ${anyRole.join(' or ')}.`

const installationOnly = (): ApiError =>
  new ApiError(
    'insufficient_scope',
    'This is for the account that administers the installation: its first owner.',
  )

/** What a visitor meets who has not signed in, or whose session has ended. */
const signInFirst = (): ApiError => new ApiError('authentication_required', 'Sign in first.')

/** What a bearer key meets where only an administrator's session may go (D14). */
export const administratorOnly = (): ApiError =>
  new ApiError('insufficient_scope', 'API keys are managed in an administrator’s session only.')
