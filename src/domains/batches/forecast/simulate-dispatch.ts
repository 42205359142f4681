import { MinHeap } from '../../../runtime/min-heap.ts'
import type { CallingWindowJson } from '../../../calling-hours/weekly-window.ts'
import type { CallingPolicy } from '../../organizations/calling-policy.ts'
import { createNumberLimits, type SimulatedNumbers } from './number-limits.ts'
import { createOpenings, type LaneOpenings } from './lane-openings.ts'

/** One source of work in one combination of zones, as dispatch has them. */
export interface SimulatedLane {
  readonly timeZones: readonly string[] | undefined
  readonly callingWindow?: CallingWindowJson
  /** Lanes of one batch share their turns. */
  readonly source: string
  /** 0 immediate calls, 1 Automations, 2 batches: a lower rank goes first. */
  readonly rank: number
  /** Its calls choose among the numbers of this pool; undefined: they never wait for one. */
  readonly pool?: number
}

/** A call that waits. */
interface SimulatedCall {
  /** Index of its lane. */
  readonly lane: number
  readonly number: string
  readonly notBeforeMs: number
}

export interface SimulatedWork {
  readonly fromMs: number
  readonly policy: CallingPolicy
  readonly lanes: readonly SimulatedLane[]
  /** In the order of their ids, which decides between calls that are due at one instant. */
  readonly calls: readonly SimulatedCall[]
  /** Calls at one time. */
  readonly lines: number
  readonly callsPerSecond: number
  /** Calls that may start at once. */
  readonly burst: number
  /** How long a call holds its line, ringing included. */
  readonly lineMs: number
  /** What holds a line now. */
  readonly live: readonly { readonly number: string; readonly endsMs: number }[]
  /** Dials of the last days by number, where the policy limits them. */
  readonly dialled: ReadonlyMap<string, readonly number[]>
  /** Where calls may have to wait for a number to show. */
  readonly numbers?: SimulatedNumbers
}

/** How far a forecast looks ahead. */
export const maxForecastMs = 400 * 24 * 3_600_000

/**
 * When each call rings, in epoch milliseconds; NaN: not within `maxForecastMs`. Plays what dispatch does, with one
 * average length for every call: open lanes only, ranks, turns among sources, one call per number, attempts per day,
 * limits of the numbers that are shown, lines and calls per second. The same work gives the same result. It takes a time of n log n, times the lanes.
 */
export const simulateDispatch = (work: SimulatedWork): Float64Array => {
  const rings = new Float64Array(work.calls.length).fill(Number.NaN)
  if (work.lines < 1) return rings
  const lines = createLines(work)
  const queue = createQueue(work)
  const untilMs = work.fromMs + maxForecastMs
  let left = work.calls.length
  let nowMs = work.fromMs
  while (left > 0 && nowMs <= untilMs) {
    for (const number of lines.release(nowMs)) queue.freeNumber(number, nowMs)
    const freeMs = lines.freeAtMs(nowMs)
    if (freeMs > nowMs) {
      nowMs = freeMs
      continue
    }
    const head = queue.take(nowMs)
    if (head === undefined) {
      nowMs = Math.min(queue.nextDueMs(nowMs), lines.nextEndMs())
      continue
    }
    if (lines.isBusy(head.number)) queue.waitForNumber(head)
    else if (queue.isTooOften(head, nowMs) || queue.lacksNumber(head, nowMs)) continue
    else {
      rings[head.index] = nowMs
      left -= 1
      queue.served(head, nowMs)
      lines.dial(head.number, nowMs)
    }
  }
  return rings
}

interface Line {
  readonly number: string
  readonly endsMs: number
}

/** Lines and the pace at which calls start. */
const createLines = (work: SimulatedWork) => {
  const { lines, burst, callsPerSecond, lineMs } = work
  const busy = new Set<string>()
  const ends = new MinHeap<Line>((left, right) => left.endsMs < right.endsMs)
  let tokens = burst
  let refilledMs = work.fromMs
  const hold = (number: string, endsMs: number): void => {
    ends.push({ number, endsMs })
    if (number !== '') busy.add(number)
  }
  for (const { number, endsMs } of work.live) hold(number, endsMs)
  return {
    isBusy: (number: string): boolean => busy.has(number),
    nextEndMs: (): number => ends.peek()?.endsMs ?? Number.POSITIVE_INFINITY,
    /** Ends the calls that are over; their numbers. */
    release: (nowMs: number): string[] => {
      const numbers: string[] = []
      for (let line = ends.peek(); line && line.endsMs <= nowMs; line = ends.peek()) {
        ends.pop()
        busy.delete(line.number)
        numbers.push(line.number)
      }
      return numbers
    },
    freeAtMs: (nowMs: number): number => {
      if (ends.size >= lines) return Math.max(nowMs, ends.peek()?.endsMs ?? nowMs)
      tokens = Math.min(burst, tokens + ((nowMs - refilledMs) / 1000) * callsPerSecond)
      refilledMs = nowMs
      if (tokens >= 1) return nowMs
      return nowMs + Math.max(1, Math.ceil(((1 - tokens) / callsPerSecond) * 1000))
    },
    dial: (number: string, nowMs: number): void => {
      tokens -= 1
      hold(number, nowMs + lineMs)
    },
  }
}

interface Head {
  readonly index: number
  readonly number: string
  readonly lane: Lane
}

interface Lane {
  readonly openings: LaneOpenings
  readonly source: Source
  readonly waiting: MinHeap<Waiting>
  readonly pool: number | undefined
}

interface Source {
  readonly rank: number
  virtualTime: number
}

interface Waiting {
  readonly index: number
  readonly notBeforeMs: number
}

const isEarlier = (left: Waiting, right: Waiting): boolean =>
  left.notBeforeMs < right.notBeforeMs ||
  (left.notBeforeMs === right.notBeforeMs && left.index < right.index)

/** Who is next: the claim of dispatch. */
const createQueue = (work: SimulatedWork) => {
  const lanes = lanesOf(work)
  const numbers = createNumberLimits(work.numbers)
  const parked = new Map<string, Head[]>()
  const dialled = new Map([...work.dialled].map(([number, times]) => [number, [...times]]))
  const limit = work.policy.attemptsPerNumberPerDay
  let virtualTime = 0

  const startOf = ({ source }: Lane): number => Math.max(source.virtualTime, virtualTime)
  const isDue = (lane: Lane, nowMs: number): boolean => {
    const first = lane.waiting.peek()
    if (first === undefined || first.notBeforeMs > nowMs) return false
    if (numbers.freeAtMs(lane.pool) > nowMs) return false
    const opening = lane.openings.at(nowMs)
    return opening !== undefined && opening.startMs <= nowMs
  }
  const isNext = (lane: Lane, best: Lane): boolean => {
    if (lane.source.rank !== best.source.rank) return lane.source.rank < best.source.rank
    const [left, right] = [startOf(lane), startOf(best)]
    if (lane.source !== best.source && left !== right) return left < right
    return isEarlier(lane.waiting.peek() as Waiting, best.waiting.peek() as Waiting)
  }
  const put = ({ lane, index }: Head, notBeforeMs: number): void =>
    lane.waiting.push({ index, notBeforeMs })

  return {
    take: (nowMs: number): Head | undefined => {
      let best: Lane | undefined
      let isContested = false
      for (const lane of lanes) {
        if (!isDue(lane, nowMs)) continue
        if (best && lane.source !== best.source && lane.source.rank === best.source.rank)
          isContested = true
        if (!best || isNext(lane, best)) best = lane
      }
      const first = best?.waiting.pop()
      if (!best || !first) return undefined
      if (isContested) {
        const start = startOf(best)
        virtualTime = Math.max(virtualTime, start)
        best.source.virtualTime = start + 1
      }
      return { index: first.index, number: work.calls[first.index]?.number ?? '', lane: best }
    },
    /** The earliest instant after `nowMs` at which something may be due. */
    nextDueMs: (nowMs: number): number => {
      let dueMs = Number.POSITIVE_INFINITY
      for (const lane of lanes) {
        const first = lane.waiting.peek()
        const freeMs = numbers.freeAtMs(lane.pool)
        if (!first || freeMs === Number.POSITIVE_INFINITY) continue
        const opening = lane.openings.at(nowMs)
        if (!opening) continue
        const atMs = Math.max(first.notBeforeMs, opening.startMs, freeMs)
        dueMs = Math.min(dueMs, Math.max(nowMs + 1, Math.min(atMs, opening.endMs)))
      }
      return dueMs
    },
    /** Parks a call until the one that holds its number has ended. */
    waitForNumber: (head: Head): void => {
      const others = parked.get(head.number)
      if (others) others.push(head)
      else parked.set(head.number, [head])
    },
    freeNumber: (number: string, nowMs: number): void => {
      const others = parked.get(number)
      const [next, ...rest] = others ?? []
      if (!next) return
      if (rest.length > 0) parked.set(number, rest)
      else parked.delete(number)
      put(next, nowMs)
    },
    /** Then it waits for the callee's next day. */
    isTooOften: (head: Head, nowMs: number): boolean => {
      if (limit === undefined) return false
      const day = head.lane.openings.dayAt(nowMs)
      const times = dialled.get(head.number) ?? []
      if (times.filter((atMs) => atMs >= day.startMs).length < limit) return false
      put(head, day.endMs)
      return true
    },
    /** Then its lane waits for a number, the call in its old place. */
    lacksNumber: (head: Head, nowMs: number): boolean => {
      if (numbers.take(head.lane.pool, nowMs)) return false
      put(head, Math.min(nowMs, work.calls[head.index]?.notBeforeMs ?? nowMs))
      return true
    },
    served: ({ number }: Head, nowMs: number): void => {
      if (limit === undefined) return
      const times = dialled.get(number)
      if (times) times.push(nowMs)
      else dialled.set(number, [nowMs])
    },
  }
}

const lanesOf = (work: SimulatedWork): Lane[] => {
  const openingsOf = createOpenings(work.policy)
  const sources = new Map<string, Source>()
  const lanes = work.lanes.map(({ timeZones, callingWindow, source: key, rank, pool }): Lane => {
    const source = sources.get(key) ?? { rank, virtualTime: 0 }
    sources.set(key, source)
    return {
      openings: openingsOf(timeZones, callingWindow),
      source,
      waiting: new MinHeap<Waiting>(isEarlier),
      pool,
    }
  })
  for (const [index, call] of work.calls.entries())
    lanes[call.lane]?.waiting.push({ index, notBeforeMs: call.notBeforeMs })
  return lanes
}
