/**
 * Continues with a value at once if it is already known, else when its promise resolves. For hot paths of every
 * request that hardly ever wait: each `await` there would cost a promise and a turn of the queue.
 */
export const whenKnown = <Value, Result>(
  value: Value | Promise<Value>,
  proceed: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> => (value instanceof Promise ? value.then(proceed) : proceed(value))
