import type { Operation } from '../contract/define-operation.ts'
import type { StoredResponse } from './idempotency-claims.ts'

/** Throws where an answer is not what the contract says: a fault of ours, caught in tests and development. */
export const checkResponse = (operation: Operation, { body }: StoredResponse): void => {
  const result = operation.response.safeParse(JSON.parse(body))
  if (!result.success)
    throw new Error(`The answer of ${operation.method} ${operation.path} breaks the contract.`, {
      cause: result.error,
    })
}
