import type { Time } from '../../src/runtime/time.ts'

/** Time that passes only by hand. */
export interface ManualTime extends Time {
  /** Lets time pass; what falls due meanwhile runs in its order, each at its own instant. */
  readonly advance: (ms: number) => void
  /** How many tasks and sleepers wait. */
  readonly pending: () => number
  /** Resolves once `count` sleepers wait: everything that will sleep, sleeps. */
  readonly untilAsleep: (count: number) => Promise<void>
}

interface Task {
  readonly dueMs: number
  readonly run: () => void
}

const defaultStart = new Date('2026-11-20T12:00:00Z')

export const createManualTime = (start = defaultStart): ManualTime => {
  let elapsedMs = 0
  let asleep = 0
  const tasks = new Set<Task>()
  const watchers = new Set<{ readonly count: number; readonly resolve: () => void }>()

  const earliest = (limitMs: number): Task | undefined => {
    let found: Task | undefined
    for (const task of tasks)
      if (task.dueMs <= limitMs && (found === undefined || task.dueMs < found.dueMs)) found = task
    return found
  }
  const after = (delayMs: number, run: () => void): (() => void) => {
    const task = { dueMs: elapsedMs + delayMs, run }
    tasks.add(task)
    return () => {
      tasks.delete(task)
    }
  }
  const tellWatchers = (): void => {
    for (const watcher of watchers) {
      if (asleep < watcher.count) continue
      watchers.delete(watcher)
      watcher.resolve()
    }
  }
  return {
    now: () => new Date(start.getTime() + elapsedMs),
    monotonicMs: () => elapsedMs,
    after,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve()
        const wake = (): void => {
          signal.removeEventListener('abort', wake)
          cancel()
          asleep -= 1
          resolve()
        }
        const cancel = after(ms, wake)
        asleep += 1
        signal.addEventListener('abort', wake)
        tellWatchers()
      }),
    advance(ms) {
      const endMs = elapsedMs + ms
      for (let task = earliest(endMs); task !== undefined; task = earliest(endMs)) {
        tasks.delete(task)
        elapsedMs = Math.max(elapsedMs, task.dueMs)
        task.run()
      }
      elapsedMs = endMs
    },
    pending: () => tasks.size,
    untilAsleep: (count) =>
      new Promise((resolve) => {
        watchers.add({ count, resolve })
        tellWatchers()
      }),
  }
}
