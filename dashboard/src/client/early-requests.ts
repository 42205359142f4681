import type { EarlyRequest } from '../early.ts'

/** An answer that was asked for so long ago is asked for anew. */
const maxAgeMs = 10_000

/** What was asked for before the application ran, each to be taken once. */
export const earlyRequests = (): readonly EarlyRequest[] => globalThis.outdialEarly ?? []

/** The answer to a reading that was asked for before the application ran. */
export const takeEarly = (url: string): Promise<Response> | undefined => {
  const waiting = globalThis.outdialEarly
  const found = waiting?.find((each) => each.url === url)
  if (!waiting || !found) return undefined
  waiting.splice(waiting.indexOf(found), 1)
  return performance.now() < maxAgeMs ? found.response : undefined
}
