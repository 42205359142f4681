import { setTimeout as delay } from 'node:timers/promises'

/**
 * Polls until the result is not `undefined`. For what can only be observed from outside by polling (HTTP resources,
 * files of another program); inside a process a test awaits an event instead.
 */
export const until = async <T>(
  what: string,
  ask: () => Promise<T | undefined> | T | undefined,
  { timeoutMs = 60_000, everyMs = 50 }: { timeoutMs?: number; everyMs?: number } = {},
): Promise<T> => {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (performance.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain for ${what}.`)
    await delay(everyMs)
  }
}
