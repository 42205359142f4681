import type { Handler, Handlers } from '../contract/define-operation.ts'
import type { operations, OperationName } from '../contract/operations.ts'
import type { Queryable, Transaction } from '../database/database.ts'

/**
 * `ApiHandler<'placeCall'>`: the handler of one operation by its name. `Parts` names what the handler needs besides the
 * database; `compose/api.ts` gives it. Throws `ApiError` for what the caller is told.
 */
export type ApiHandler<Name extends OperationName, Parts = unknown> = Handler<
  (typeof operations)[Name],
  Queryable,
  Transaction,
  Parts
>

/** Every handler of the API. */
export type ApiHandlers<Parts> = Handlers<typeof operations, Queryable, Transaction, Parts>
