import type { Operation } from '../contract/define-operation.ts'
import type { StoredResponse } from './idempotency-claims.ts'

/** Throws if a response violates the contract: our own fault, found in tests and development. */
export const checkResponse = (operation: Operation, { body }: StoredResponse): void => {
  const result = operation.response.safeParse(JSON.parse(body))
  if (!result.success)
    throw new Error(`The answer of ${operation.method} ${operation.path} breaks the contract.`, {
      cause: result.error,
    })
}
