import { setTimeout as delay } from 'node:timers/promises'
import type { Attack } from '../stage/attack.ts'

const pauseMs = 12_000

/** The whole process stops for 12 s, as on a migrating machine: a stall is no death. */
export const pausedProcess: Attack = {
  name: 'paused-process',
  goal: 'calls survive a process that stood still for 12 s',
  isLong: true,
  async run({ product }) {
    product.signal('SIGSTOP')
    await delay(pauseMs)
    product.signal('SIGCONT')
    await delay(2_000)
    return { figure: `${pauseMs / 1_000} s`, problems: [] }
  },
}
