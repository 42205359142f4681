/** Runs tasks later; protocol timers go through it so that tests can move time by hand. */
export interface Scheduler {
  /** Runs `task` once after `delayMs`; the returned function cancels it, safe twice. */
  after(delayMs: number, task: () => void): () => void
}

export const systemScheduler: Scheduler = {
  after: (delayMs, task) => {
    const timer = setTimeout(task, delayMs)
    return () => {
      clearTimeout(timer)
    }
  },
}

/** A scheduler whose time moves only by `advance`, which runs what falls due in order. */
export const createManualScheduler = (): Scheduler & {
  advance(ms: number): void
  pending(): number
} => {
  let nowMs = 0
  const tasks = new Set<{ readonly dueMs: number; readonly run: () => void }>()
  const earliest = (limitMs: number) =>
    [...tasks].filter((task) => task.dueMs <= limitMs).sort((a, b) => a.dueMs - b.dueMs)[0]
  return {
    after: (delayMs, run) => {
      const task = { dueMs: nowMs + delayMs, run }
      tasks.add(task)
      return () => {
        tasks.delete(task)
      }
    },
    advance: (ms) => {
      const endMs = nowMs + ms
      for (let task = earliest(endMs); task !== undefined; task = earliest(endMs)) {
        tasks.delete(task)
        nowMs = task.dueMs
        task.run()
      }
      nowMs = endMs
    },
    pending: () => tasks.size,
  }
}

/** A set of named timers of one owner: setting a name again replaces it, and all end together. */
export interface Timers<Name extends string> {
  set(name: Name, delayMs: number, task: () => void): void
  clear(name: Name): void
  clearAll(): void
}

export const createTimers = <Name extends string>(scheduler: Scheduler): Timers<Name> => {
  const cancels = new Map<Name, () => void>()
  const clear = (name: Name): void => {
    cancels.get(name)?.()
    cancels.delete(name)
  }
  return {
    set: (name, delayMs, task) => {
      clear(name)
      const run = (): void => {
        cancels.delete(name)
        task()
      }
      cancels.set(name, scheduler.after(delayMs, run))
    },
    clear,
    clearAll: () => {
      for (const name of cancels.keys()) clear(name)
    },
  }
}
