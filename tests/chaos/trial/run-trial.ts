import { setTimeout as delay } from 'node:timers/promises'
import { startFleet, type Fleet, type Shape } from './fleet.ts'
import { scheduleKills } from './kill-schedule.ts'
import { startLoad } from './load.ts'
import { startObserver, type Observations, type Observer } from './observe.ts'
import { createRequests } from './requests.ts'
import { setStage } from './stage.ts'
import { reachVerdict, type Verdict } from './verdict.ts'

export interface TrialOptions {
  readonly shape: Shape
  readonly seed: number
  readonly kills: number
  /** Factor by which the kills are faster than usual. */
  readonly hurry?: number
  /** Work at once; the time to settle grows with it. */
  readonly maxOpen?: number
  /** The kills end after this, even if some are left. */
  readonly killingLimitMs: number
  readonly report: (line: string) => void
}

export interface TrialReport {
  readonly shape: Shape
  readonly kills: { readonly service: number; readonly postgres: number }
  readonly starts: number
  readonly unanswered: number
  readonly requests: number
  readonly seconds: number
  readonly observations: Observations
  readonly verdict: Verdict
  readonly problems: readonly string[]
  /** Kept if there are problems. */
  readonly folder: string
}

/** Work to be in progress before the first kill. */
const warmUpMs = 2_000
/**
 * After the last kill, this long without any end of a call or run means that the rest is stuck, so that a lost call
 * is noticed.
 */
const standstillLimitMs = 120_000
/** Calls to one number come one after the other, 10 s each: work continues while calls keep ending, up to this. */
const settlingLimitMs = 900_000
const lookEveryMs = 500

/** Load, kills, time to settle, and the verdict. */
export const runTrial = async (options: TrialOptions): Promise<TrialReport> => {
  const { shape, seed, report } = options
  const startedMs = performance.now()
  const fleet = await startFleet(shape)
  let isSound = false
  try {
    const tenants = await setStage(fleet)
    const requests = createRequests(fleet.services.map(({ apiUrl }) => apiUrl))
    const observer = startObserver(fleet, tenants, requests)
    const load = startLoad({
      seed,
      tenants,
      requests,
      open: () => observer.open(),
      ...(options.maxOpen !== undefined && { maxOpen: options.maxOpen }),
    })
    await delay(warmUpMs)
    const kills = await strikeAll(fleet, options)
    report(
      `${shape}: ${kills.service + kills.postgres} kills done, waiting for the last call to end`,
    )
    await load.stop()
    await load.resumeAll()
    await untilAllEnded(observer)
    const observations = await observer.stop()
    const verdict = await reachVerdict({ fleet, tenants, load, requests })
    const problems = [...observations.faults, ...verdict.problems]
    isSound = problems.length === 0
    return {
      shape,
      kills,
      starts: fleet.services.reduce((sum, service) => sum + service.starts(), 0),
      unanswered: requests.unanswered(),
      requests: load.settled.length,
      seconds: (performance.now() - startedMs) / 1000,
      observations,
      verdict,
      problems,
      folder: fleet.folder,
    }
  } finally {
    await fleet.stop(!isSound)
  }
}

const strikeAll = async (
  fleet: Fleet,
  { seed, kills, hurry, killingLimitMs, report }: TrialOptions,
): Promise<TrialReport['kills']> => {
  const struck = { service: 0, postgres: 0 }
  const deadlineMs = performance.now() + killingLimitMs
  for (const kill of scheduleKills(seed, kills, hurry)) {
    await delay(kill.afterMs)
    while (!fleet.strike(kill)) await delay(20)
    struck[kill.victim] += 1
    const done = struck.service + struck.postgres
    if (done % 25 === 0) report(`${done} kills`)
    if (performance.now() > deadlineMs) break
  }
  return struck
}

/** Also returns at the limit: the verdict reports the rest. */
const untilAllEnded = async (observer: Observer): Promise<void> => {
  const endMs = performance.now() + settlingLimitMs
  let deadlineMs = performance.now() + standstillLimitMs
  let least = Number.POSITIVE_INFINITY
  while (performance.now() < Math.min(deadlineMs, endMs)) {
    const open = await observer.look()
    const left = open ? open.calls + open.runs : least
    if (left === 0) return
    if (left < least) {
      least = left
      deadlineMs = performance.now() + standstillLimitMs
    }
    await delay(lookEveryMs)
  }
}
