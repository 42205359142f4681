import type { Logger } from '../../runtime/logger.ts'

/** What happened to a live call, for `call explain` and the page of the call. */
export interface CallNote {
  readonly decision: 'held' | 'resumed' | 'one_way_audio'
  readonly reason?: string
}

interface CallNotes {
  /** Never waits, and never throws. */
  add(note: CallNote): void
  /** Resolves when every note is stored or given up. */
  settle(): Promise<void>
}

/** A side that holds and resumes for ever fills no table. */
const maxNotes = 20

/** Stores the notes of one call in their order. A note that cannot be stored is lost: the call goes on. */
export const createCallNotes = (
  store: (note: CallNote) => Promise<unknown>,
  logger: Logger,
): CallNotes => {
  let written = Promise.resolve()
  let count = 0
  const write = async (note: CallNote): Promise<void> => {
    try {
      await store(note)
    } catch (error) {
      logger.warn({ err: error, note: note.decision }, 'a note about a live call was lost')
    }
  }
  return {
    add(note) {
      count += 1
      if (count > maxNotes) return
      logger.info({ note: note.decision }, 'a live call changed')
      written = written.then(() => write(note))
    },
    settle: () => written,
  }
}

export const holdNote = (isHeld: boolean, maxHoldMs: number): CallNote =>
  isHeld
    ? {
        decision: 'held',
        reason: `The callee holds the line; the conversation pauses for at most ${Math.round(maxHoldMs / 1000)} s.`,
      }
    : { decision: 'resumed', reason: 'The callee took the line back.' }

export const oneWayNote = (missing: 'from_callee' | 'to_callee'): CallNote => ({
  decision: 'one_way_audio',
  reason:
    missing === 'from_callee'
      ? 'No audio arrives from the callee: see the public address and the open RTP ports of this machine.'
      : 'The callee’s side reports that none of our audio arrives.',
})
