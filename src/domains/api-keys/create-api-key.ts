import { makeApiKey } from './api-key-format.ts'
import type { ApiKey } from '../../contract/api-keys.ts'
import { buckets, type RateLimits } from '../../contract/buckets.ts'
import { parseDateTime } from '../../contract/date-time.ts'
import { scopes, type Scope } from '../../contract/scopes.ts'
import type { Queryable } from '../../database/database.ts'
import { isUuid, newId } from '../../runtime/ids.ts'
import { checkName } from '../organizations/create-organization.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import { findOrganization } from '../organizations/organization-store.ts'
import { allowancesOf, checkRateLimits } from '../organizations/rate-allowances.ts'
import { apiKeyResource } from './api-key-resource.ts'
import { insertApiKey } from './api-key-store.ts'

export interface CreateApiKeyInput {
  readonly organizationId: string
  readonly name: string
  readonly scopes: readonly string[] | 'all'
  /** RFC 3339 with any offset. */
  readonly expiresAt?: string
  /** Requests per 60 s; none may exceed the organization's. */
  readonly rateLimits?: Readonly<Record<string, number>>
}

/** A new key with its secret, which is returned only here. Throws `OperatorError`. */
export const createApiKey = async (
  db: Queryable,
  input: CreateApiKeyInput,
): Promise<ApiKey & { readonly secret: string }> => {
  const organization = isUuid(input.organizationId)
    ? await findOrganization(db, input.organizationId)
    : undefined
  if (!organization) throw new OperatorError(`There is no organization ${input.organizationId}.`)
  const { secret, ...made } = makeApiKey()
  const row = await insertApiKey(db, {
    ...made,
    organizationId: organization.id,
    id: newId(),
    name: checkName(input.name, 200),
    scopes: checkScopes(input.scopes),
    rateLimits: checkKeyRates(input.rateLimits ?? {}, allowancesOf(organization.rateLimits)),
    expiresAt: input.expiresAt === undefined ? undefined : checkInstant(input.expiresAt),
  })
  return { ...apiKeyResource(row), secret }
}

const isScope = (text: string): text is Scope => scopes.some((scope) => scope === text)

/** In the order of the contract, each once. */
const checkScopes = (wanted: readonly string[] | 'all'): readonly Scope[] => {
  if (wanted === 'all') return scopes
  const unknown = wanted.find((scope) => !isScope(scope))
  if (unknown !== undefined) {
    throw new OperatorError(`There is no scope "${unknown}": it is one of ${scopes.join(', ')}.`)
  }
  if (wanted.length === 0) throw new OperatorError('A key needs at least one scope.')
  return scopes.filter((scope) => wanted.includes(scope))
}

const checkKeyRates = (
  wanted: Readonly<Record<string, number>>,
  allowed: RateLimits,
): Partial<RateLimits> => {
  const rates = checkRateLimits(wanted)
  const above = buckets.find((bucket) => (rates[bucket] ?? 0) > allowed[bucket])
  if (above !== undefined) {
    throw new OperatorError(
      `The organization's rate of ${above} is ${allowed[above]}: a key's cannot be above it.`,
    )
  }
  return rates
}

const checkInstant = (text: string): string => {
  const instant = parseDateTime(text)
  if (instant === undefined) {
    throw new OperatorError('The expiry must be an RFC 3339 instant, such as 2027-01-31T00:00:00Z.')
  }
  return instant
}
