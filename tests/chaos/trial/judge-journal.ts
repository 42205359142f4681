import type { JournalLine } from '../../support/sandbox-carrier-process.ts'
import { trunkChannels } from './fleet.ts'
import type { Tenant } from './stage.ts'

/** A call's row at the end of the trial. */
export interface CallRow {
  readonly id: string
  readonly organization_id: string
  readonly status: string
  readonly batch_id: string | null
  readonly automation_run_id: string | null
  readonly answer_status: string | null
  readonly ended_at: Date | null
}

export interface JournalVerdict {
  readonly invites: number
  readonly ringing: number
  readonly mostAtOnce: number
  readonly problems: readonly string[]
}

interface Attempt {
  readonly callId: string
  readonly number: string | undefined
  readonly fromMs: number
  untilMs: number
  isCongested: boolean
}

/** The carrier's view, which our crashes cannot distort: who was invited, how often, and how many at a time. */
export const judgeJournal = (
  journal: readonly JournalLine[],
  calls: ReadonlyMap<string, CallRow>,
  tenants: readonly Tenant[],
): JournalVerdict => {
  const problems: string[] = []
  const attempts = attemptsOf(journal)
  problems.push(...repeatedRings(journal, attempts))
  for (const attempt of attempts) {
    const endedMs = calls.get(attempt.callId)?.ended_at?.getTime()
    if (!calls.has(attempt.callId)) problems.push(`INVITE for ${attempt.callId}, which is no call`)
    else if (endedMs !== undefined && attempt.fromMs > endedMs)
      problems.push(`INVITE for ${attempt.callId} ${attempt.fromMs - endedMs} ms after its end`)
    // A killed process sends no BYE: its channel is free when the row is released.
    attempt.untilMs = Math.min(attempt.untilMs, endedMs ?? Infinity)
  }
  const mostAtOnce = mostOverlapping(attempts)
  if (mostAtOnce > trunkChannels) problems.push(`the carrier saw ${mostAtOnce} calls at once`)
  for (const { id, concurrency } of tenants) {
    const own = attempts.filter(({ callId }) => calls.get(callId)?.organization_id === id)
    const most = mostOverlapping(own)
    if (most > concurrency) problems.push(`the carrier saw ${most} calls of ${concurrency} at once`)
    for (const [number, toOne] of Map.groupBy(own, (attempt) => attempt.number)) {
      const rung = number === undefined ? 0 : mostOverlapping(toOne)
      if (rung > 1) problems.push(`one organization had ${rung} calls to ${number} at once`)
    }
  }
  return {
    invites: attempts.length,
    ringing: journal.filter(({ event }) => event === 'ringing').length,
    mostAtOnce,
    problems,
  }
}

/** One for each INVITE that began a SIP call. */
const attemptsOf = (journal: readonly JournalLine[]): Attempt[] => {
  const attempts = new Map<string, Attempt>()
  for (const { event, call_id: callId, sip_call_id: sipCallId, number, at } of journal) {
    const atMs = Date.parse(at)
    const attempt = attempts.get(sipCallId) ?? {
      callId,
      number,
      fromMs: atMs,
      untilMs: Infinity,
      isCongested: false,
    }
    attempts.set(sipCallId, attempt)
    if (event === 'congested') attempt.isCongested = true
    if (event === 'congested' || event === 'ended') attempt.untilMs = atMs
  }
  return [...attempts.values()]
}

/**
 * At most one INVITE that can ring a phone: the only other ones are those that the carrier refused for congestion.
 */
const repeatedRings = (journal: readonly JournalLine[], attempts: readonly Attempt[]): string[] => {
  const dialled = countBy(attempts.filter(({ isCongested }) => !isCongested).map((a) => a.callId))
  const rang = countBy(
    journal.filter(({ event }) => event === 'ringing').map(({ call_id }) => call_id),
  )
  return [...dialled, ...rang]
    .filter(([, times]) => times > 1)
    .map(([callId, times]) => `call ${callId} was rung ${times} times`)
}

const countBy = (keys: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

const mostOverlapping = (attempts: readonly Attempt[]): number => {
  const edges = attempts
    .flatMap(({ fromMs, untilMs }) => [
      { atMs: fromMs, step: 1 },
      { atMs: untilMs, step: -1 },
    ])
    // What ends in the same millisecond has ended.
    .toSorted((a, b) => a.atMs - b.atMs || a.step - b.step)
  let live = 0
  let most = 0
  for (const { step } of edges) {
    live += step
    most = Math.max(most, live)
  }
  return most
}
