import { setTimeout as delay } from 'node:timers/promises'
import { backoffMs } from '../../runtime/backoff.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { SpokenTurn } from '../../domains/results/transcript-store.ts'

/** Writes turns one after the other as they become final, through failovers of the database. */
interface TranscriptWriter {
  add(turn: SpokenTurn): void
  /** Stops writing and hands back what is not stored, for the finishing transaction. */
  settle(): Promise<readonly SpokenTurn[]>
}

/** More than an hour of quick talk. */
const maxUnsavedTurns = 2_000
const retryDelay = { baseMs: 200, maxMs: 5_000 }

/** `append` is idempotent by sequence, so that a write whose answer was lost may be repeated. */
export const createTranscriptWriter = (
  append: (turn: SpokenTurn) => Promise<void>,
  logger: Logger,
): TranscriptWriter => {
  const unsaved: SpokenTurn[] = []
  const settled = new AbortController()
  let writing: Promise<void> | undefined

  const writeAll = async (): Promise<void> => {
    let failures = 0
    for (let turn = unsaved[0]; turn !== undefined; turn = unsaved[0]) {
      try {
        await append(turn)
        unsaved.shift()
        failures = 0
      } catch (error) {
        failures += 1
        logger.warn({ err: error, sequence: turn.sequence }, 'a turn could not be stored yet')
        await pause(backoffMs(failures, retryDelay), settled.signal)
      }
      if (settled.signal.aborted) return
    }
  }

  const write = (): void => {
    writing ??= writeAll().finally(() => {
      writing = undefined
      if (unsaved.length > 0 && !settled.signal.aborted) write()
    })
  }

  return {
    add: (turn) => {
      if (unsaved.length >= maxUnsavedTurns) {
        logger.error({ sequence: turn.sequence }, 'a turn was dropped: too many wait to be stored')
        return
      }
      unsaved.push(turn)
      if (!settled.signal.aborted) write()
    },
    settle: async () => {
      settled.abort()
      await writing
      return [...unsaved]
    },
  }
}

/** Waits, or not once the signal is aborted. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => undefined)
