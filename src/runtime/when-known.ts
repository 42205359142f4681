/**
 * Goes on with a value at once where it is known already, else when its promise is kept. For paths that hardly ever wait
 * and are walked at every request: each `await` on them would cost a promise and a turn of the queue.
 */
export const whenKnown = <Value, Result>(
  value: Value | Promise<Value>,
  proceed: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> => (value instanceof Promise ? value.then(proceed) : proceed(value))
