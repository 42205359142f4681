/** Exponential delay with full jitter in its upper half: attempt 1 waits about `baseMs`, never more than `maxMs`. */
export const backoffMs = (
  attempt: number,
  { baseMs, maxMs }: { baseMs: number; maxMs: number },
  random: () => number = Math.random,
): number => {
  const ceiling = Math.min(maxMs, baseMs * 2 ** Math.min(30, Math.max(0, attempt - 1)))
  return Math.round(ceiling / 2 + (ceiling / 2) * random())
}
