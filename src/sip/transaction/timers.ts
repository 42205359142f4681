import type { Time } from '../../runtime/time.ts'

/** A set of named timers of one owner: setting a name again replaces it, and all end together. */
export interface Timers<Name extends string> {
  set(name: Name, delayMs: number, task: () => void): void
  clear(name: Name): void
  clearAll(): void
}

export const createTimers = <Name extends string>(time: Time): Timers<Name> => {
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
      cancels.set(name, time.after(delayMs, run))
    },
    clear,
    clearAll: () => {
      for (const name of cancels.keys()) clear(name)
    },
  }
}
