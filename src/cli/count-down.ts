import { setTimeout as delay } from 'node:timers/promises'

const lookEveryMs = 500

/** Prints how many calls are still live each time it has changed, until the signal. Nothing where there is none. */
export const countDown = async (
  liveCalls: () => number,
  tell: (text: string) => void,
  signal: AbortSignal,
  wait = waitUntilAborted,
): Promise<void> => {
  let told = 0
  while (!signal.aborted) {
    const remaining = liveCalls()
    if (remaining !== told) tell(remainingSentence(remaining))
    told = remaining
    await wait(lookEveryMs, signal)
  }
}

const waitUntilAborted = async (ms: number, signal: AbortSignal): Promise<void> => {
  await delay(ms, undefined, { signal }).catch(() => undefined)
}

const remainingSentence = (count: number): string => {
  if (count === 0) return 'No call is live any more.'
  return count === 1 ? '1 call is still live.' : `${count} calls are still live.`
}
