import { BoundedMap } from '../../runtime/bounded-map.ts'

/** The events at the sandbox carrier, so that a test can prove that no phone rang twice. */
export type JournalEvent =
  'invite' | 'challenged' | 'congested' | 'ringing' | 'answered' | 'pressed' | 'referred' | 'ended'

export interface JournalEntry {
  readonly event: JournalEvent
  /** The caller's own id for its call if it sends one, else the SIP Call-ID. */
  readonly callId: string
  readonly sipCallId: string
  readonly number: string
  /** The pressed key, or the target of a transfer. */
  readonly detail?: string
}

/** How often each event happened for one call. */
type CallCounts = Readonly<Record<JournalEvent, number>>

export interface SandboxReport {
  readonly calls: Readonly<Record<string, CallCounts>>
}

export interface CallJournal {
  record(entry: JournalEntry): void
  countsOf(callId: string): CallCounts
  report(): SandboxReport
}

/** Beyond this the oldest call is dropped; a chaos run makes a few thousand. */
const maxJournaledCalls = 100_000

const none: CallCounts = {
  invite: 0,
  challenged: 0,
  congested: 0,
  ringing: 0,
  answered: 0,
  pressed: 0,
  referred: 0,
  ended: 0,
}

/** Counts in memory, and passes every entry to `append` at once: a file survives any crash of the caller. */
export const createCallJournal = (
  append: (entry: JournalEntry) => void = () => {},
): CallJournal => {
  const calls = new BoundedMap<string, CallCounts>({ maxSize: maxJournaledCalls })
  const countsOf = (callId: string): CallCounts => calls.get(callId) ?? none
  return {
    record(entry) {
      const counts = countsOf(entry.callId)
      calls.set(entry.callId, { ...counts, [entry.event]: counts[entry.event] + 1 })
      append(entry)
    },
    countsOf,
    report: () => ({ calls: Object.fromEntries(calls) }),
  }
}
