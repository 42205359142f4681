import { useSyncExternalStore } from 'react'
import { formatLength } from '../../parts/instant.tsx'

const tickMs = 1_000
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

/** One timer for all that count. */
const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  timer ??= setInterval(() => {
    for (const each of listeners) each()
  }, tickMs)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** The time since an instant, counting. */
export const Elapsed = ({ since }: { since: string | undefined }) => {
  const seconds = useSyncExternalStore(subscribe, () =>
    since === undefined ? -1 : Math.max(0, Math.floor((Date.now() - Date.parse(since)) / 1000)),
  )
  return seconds < 0 ? '–' : <span role="timer">{formatLength(seconds)}</span>
}
