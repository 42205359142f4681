import { setTimeout as delay } from 'node:timers/promises'

const lookEveryMs = 500

/** The same number is repeated after this many checks: ten seconds. */
const sayAgainLooks = 20

interface CountDown {
  readonly liveCalls: () => number
  readonly tell: (text: string) => void
  /** After this the remaining calls are hung up. */
  readonly limitMs: number
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>
}

/**
 * Prints how many calls are still live, and for how long at most, on every change and every ten seconds, until the
 * signal. Prints nothing without a live call.
 */
export const countDown = async (
  { liveCalls, tell, limitMs, wait = waitUntilAborted }: CountDown,
  signal: AbortSignal,
): Promise<void> => {
  let told = 0
  for (let looks = 0; !signal.aborted; looks += 1) {
    const remaining = liveCalls()
    const leftMs = limitMs - looks * lookEveryMs
    const isDue = remaining > 0 && looks > 0 && looks % sayAgainLooks === 0
    if (remaining !== told || isDue) tell(remainingSentence(remaining, leftMs))
    told = remaining
    await wait(lookEveryMs, signal)
  }
}

const waitUntilAborted = async (ms: number, signal: AbortSignal): Promise<void> => {
  await delay(ms, undefined, { signal }).catch(() => undefined)
}

const remainingSentence = (count: number, leftMs: number): string => {
  if (count === 0) return 'No call is live any more.'
  const calls = count === 1 ? '1 call is still live' : `${count} calls are still live`
  if (leftMs <= 0) return `${calls}: the time is over, hanging up.`
  return `${calls}; after ${Math.ceil(leftMs / 1000)} s what remains is hung up.`
}
