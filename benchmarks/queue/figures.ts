/** The value below which this share of the values is. */
export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[
    Math.min(values.length - 1, Math.floor(values.length * share))
  ] ?? Number.NaN

export const median = (values: readonly number[]): number => percentile(values, 0.5)

/** The duration in milliseconds. */
export const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

/** Runs `work` repeatedly, with this concurrency and duration; returns the sum of the results per second. */
export const ratePerSecond = async (
  { atOnce, forMs }: { readonly atOnce: number; readonly forMs: number },
  work: () => Promise<number>,
): Promise<number> => {
  const startedMs = performance.now()
  let done = 0
  const worker = async (): Promise<void> => {
    while (performance.now() - startedMs < forMs) {
      const more = await work()
      done += more
      if (more === 0) return
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return (done / (performance.now() - startedMs)) * 1000
}

/**
 * The same for claims alone: `letGo` releases what was claimed, and its time does not count, so that no more is
 * held at a time than in a running system.
 */
export const claimRatePerSecond = async <Job>(
  { atOnce, forMs }: { readonly atOnce: number; readonly forMs: number },
  claim: () => Promise<readonly Job[]>,
  letGo: (jobs: readonly Job[]) => Promise<unknown>,
): Promise<number> => {
  const startedMs = performance.now()
  let claimed = 0
  let claimingMs = 0
  const worker = async (): Promise<void> => {
    while (performance.now() - startedMs < forMs) {
      const sentMs = performance.now()
      const jobs = await claim()
      claimingMs += performance.now() - sentMs
      claimed += jobs.length
      await letGo(jobs)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return (claimed / (claimingMs / atOnce)) * 1000
}

export const row = (cells: readonly (string | number)[], widths: readonly number[]): string =>
  cells
    .map((cell, index) =>
      (typeof cell === 'number' ? cell.toFixed(cell < 100 ? 2 : 0) : cell).padStart(
        widths[index] ?? 0,
      ),
    )
    .join('  ')
