import type { Met, PeerJournal } from './sip-answers.ts'
import type { Way } from './ways.ts'

export interface SeenCall {
  readonly number: string
  readonly status: string
  readonly reason: string
}

interface OutageFacts {
  readonly way: Way
  readonly expected: number
  /** Status of POST /calls while the trunk was away. */
  readonly accepted: number
  /** Status of /readyz meanwhile. */
  readonly ready: number
  readonly explained: readonly { readonly code: string; readonly message: string }[]
  readonly doctor: string
  readonly leftAtMs: number
  readonly backAtMs: number
  readonly endedAtMs: number
  readonly ringsBefore: number
  readonly callsPerSecond: number
  readonly isTimed: boolean
  /** When the service asked the gateway with OPTIONS while it was down. */
  readonly pings: readonly number[]
  readonly journal: PeerJournal
  readonly calls: readonly SeenCall[]
}

export interface OutageReport {
  readonly way: string
  readonly calls: number
  readonly awaySeconds: number
  readonly probes: number
  /** From the trunk's return to the probe that it answered, and from there to the next INVITE. */
  readonly noticedSeconds: number
  readonly resumedSeconds: number
  readonly rang: number
  readonly rungTwice: number
  /** Calls whose INVITE had left when the trunk went away; they may have rung, so that they are `failed` (D3). */
  readonly lost: number
  readonly failed: number
  readonly tookSeconds: number
  readonly problems: readonly string[]
}

/** The first seconds belong to the calls that were under way. */
const settleMs = 15_000
const probeIntervalMs = 5_000
/** A reading every 250 ms, and a timer that came late before one that did not. */
const probeToleranceMs = 1_000
const resumeLimitMs = 5_000
/** Of a trunk that falls silent: half a second of INVITEs passes before their silence is noticed (T1), and as much again. */
const lostSeconds = 1
/** Beside other tests. */
const slowLostSeconds = 10

/** Holds what happened against the promises. */
export const judgeOutage = (facts: OutageFacts): OutageReport => {
  const { way, journal, calls, backAtMs, leftAtMs, endedAtMs } = facts
  const probes = probesOf(facts)
  const { noticedAtMs, resumedAtMs } = returnOf(facts)
  const lost = calls.filter(
    ({ status, reason }) =>
      way.mayLoseCalls === true && status === 'failed' && reason.includes('could not be reached'),
  )
  const failed = calls.filter((call) => call.status !== 'completed' && !lost.includes(call))
  const unreached = calls.filter(
    (call) => !lost.includes(call) && (journal.rings.get(call.number) ?? 0) === 0,
  )
  const twice = [...journal.rings.values()].filter((count) => count > 1).length
  const limitSeconds = facts.isTimed ? lostSeconds : slowLostSeconds
  const maxLost = Math.max(2, Math.ceil(facts.callsPerSecond * limitSeconds))
  const tooSoon = probes.filter(
    (at, index) => index > 0 && at - (probes[index - 1] ?? 0) < probeIntervalMs - probeToleranceMs,
  ).length
  const resumedMs = resumedAtMs - noticedAtMs
  const problems = [
    ...check(calls.length === facts.expected, `${calls.length} calls of ${facts.expected}`),
    ...check(facts.accepted === 202, `POST /calls answered ${facts.accepted} meanwhile`),
    ...check(facts.ready === 200, `/readyz answered ${facts.ready} meanwhile`),
    ...check(failed.length === 0, `${failed.length} calls failed: ${failed[0]?.reason}`),
    ...check(unreached.length === 0, `${unreached.length} calls reached nobody`),
    ...check(twice === 0, `${twice} phones rang twice`),
    ...check(lost.length <= maxLost, `${lost.length} calls were sent into the silence`),
    ...check(
      !facts.isTimed || tooSoon === 0,
      `${tooSoon} probes came sooner than 5 s after another`,
    ),
    ...check(!Number.isNaN(resumedMs), 'no call was dialled after the return'),
    ...check(
      !facts.isTimed || !(resumedMs > resumeLimitMs),
      `the first INVITE came ${(resumedMs / 1000).toFixed(1)} s after the probe`,
    ),
    ...check(isTold(facts), `call explain: ${JSON.stringify(facts.explained)}`),
    ...check(
      way.reason.test(facts.doctor) && /failed|warning/.test(facts.doctor),
      `doctor: ${facts.doctor}`,
    ),
  ]
  return {
    way: way.name,
    calls: calls.length,
    awaySeconds: (backAtMs - leftAtMs) / 1000,
    probes: probes.length,
    noticedSeconds: (noticedAtMs - backAtMs) / 1000,
    resumedSeconds: resumedMs / 1000,
    rang: journal.rings.size,
    rungTwice: twice,
    lost: lost.length,
    failed: failed.length,
    tookSeconds: (endedAtMs - leftAtMs) / 1000,
    problems,
  }
}

const check = (isKept: boolean, problem: string): readonly string[] => (isKept ? [] : [problem])

const isTold = ({ way, explained: [first] }: OutageFacts): boolean =>
  first?.code === way.waitCode && way.reason.test(first.message)

/** When the service tried the trunk while it was away. */
const probesOf = ({ way, pings, journal, leftAtMs, backAtMs }: OutageFacts): readonly number[] => {
  const times = way.probedBy === 'OPTIONS' ? pings : firstOfEach(journal.met, 'INVITE')
  return times.filter((at) => at > leftAtMs + settleMs && at < backAtMs)
}

/** A repeated request, and one with credentials, belong to the first of its Call-ID. */
const firstOfEach = (met: readonly Met[], method: string): readonly number[] => {
  const first = new Map<string, number>()
  for (const { atMs, sipCallId, method: own } of met)
    if (own === method && !first.has(sipCallId)) first.set(sipCallId, atMs)
  return [...first.values()]
}

const returnOf = ({ way, journal, backAtMs }: OutageFacts) => {
  const after = journal.met.filter(({ atMs }) => atMs >= backAtMs)
  const probe = after.find(({ method, fate }) =>
    way.probedBy === 'OPTIONS' ? method === 'OPTIONS' || fate === 'rang' : fate === 'rang',
  )
  const next = after.find(
    ({ atMs, method, sipCallId }) =>
      method === 'INVITE' && atMs > (probe?.atMs ?? Infinity) && sipCallId !== probe?.sipCallId,
  )
  return { noticedAtMs: probe?.atMs ?? NaN, resumedAtMs: next?.atMs ?? NaN }
}
