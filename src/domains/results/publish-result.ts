import { createHash } from 'node:crypto'
import type { TranscriptTurn } from '../../contract/call-results.ts'
import type { Transaction } from '../../database/database.ts'
import {
  insertRevision,
  keepRevision,
  lockResult,
  moveResult,
  type LockedResult,
} from './result-store.ts'
import { resultTransitions, type ResultKind } from './result-states.ts'
import { listTurns, type CallKey, type StoredTurn } from './transcript-store.ts'

/** Sanitizes texts for clients. */
interface Sanitizer {
  /** Version of the rules; stored with every revision. */
  readonly version: number
  /** Deterministic: the same text always gives the same. */
  readonly sanitize: (text: string) => string
}

/** The effect of a publication: a new revision, the same content again, or nothing because the result is closed. */
type Publication = 'revised' | 'unchanged' | 'closed'

/**
 * Projects the stored turns into the transcript's next revision. The revision rises only when the sanitized bytes
 * differ (D7). If no words are left, the transcript is `unavailable` because of `no_speech`.
 */
export const publishTranscript = async (
  tx: Transaction,
  call: CallKey,
  sanitizer: Sanitizer,
): Promise<Publication> => {
  const [result, turns] = await Promise.all([
    lockResult(tx, call, 'transcript'),
    listTurns(tx, call),
  ])
  const shown = shownTurns(turns, sanitizer)
  if (shown.length > 0) {
    const publication = await publish(tx, call, 'transcript', result, {
      content: { turns: shown },
      sanitizerVersion: sanitizer.version,
    })
    const generating = { status: 'processing', reason: 'generating' } as const
    await moveResult(tx, call, 'summary', generating, { from: ['processing'] })
    return publication
  }
  const isClosed = await closeAsSilent(tx, call)
  return isClosed ? 'unchanged' : 'closed'
}

/** Publishes the summary; its revision rises only when the sanitized bytes differ (D7). */
export const publishSummary = async (
  tx: Transaction,
  call: CallKey,
  summary: string,
  { version, sanitize }: Sanitizer,
): Promise<Publication> => {
  const result = await lockResult(tx, call, 'summary')
  return publish(tx, call, 'summary', result, {
    content: { summary: sanitize(summary) },
    sanitizerVersion: version,
  })
}

const publish = async (
  tx: Transaction,
  call: CallKey,
  kind: ResultKind,
  result: LockedResult | undefined,
  { content, sanitizerVersion }: { readonly content: object; readonly sanitizerVersion: number },
): Promise<Publication> => {
  if (result === undefined || !isOpen(result)) return 'closed'
  const text = JSON.stringify(content)
  const contentHash = createHash('sha256').update(text).digest()
  if (result.content_hash?.equals(contentHash) === true) {
    await keepRevision(tx, call, kind, { revision: result.revision, contentHash })
    return 'unchanged'
  }
  await insertRevision(tx, call, kind, {
    revision: result.revision + 1,
    content: text,
    contentHash,
    sanitizerVersion,
  })
  return 'revised'
}

const isOpen = ({ status }: LockedResult): boolean =>
  resultTransitions[status].some((next) => next === 'ready')

const closeAsSilent = async (tx: Transaction, call: CallKey): Promise<boolean> => {
  const state = { status: 'unavailable', reason: 'no_speech' } as const
  const [isClosed] = await Promise.all([
    moveResult(tx, call, 'transcript', state),
    moveResult(tx, call, 'summary', state),
  ])
  return isClosed
}

/** Renumbered: an empty turn, or one whose words came late, leaves no gap. */
const shownTurns = (turns: readonly StoredTurn[], sanitizer: Sanitizer): TranscriptTurn[] =>
  turns
    .map((turn) => shownTurn(turn, sanitizer))
    .filter(({ text }) => text !== '')
    .map((turn, index) => ({ ...turn, sequence: index + 1 }))

const shownTurn = (turn: StoredTurn, { sanitize }: Sanitizer): TranscriptTurn => ({
  id: turn.id,
  sequence: turn.sequence,
  speaker: turn.speaker,
  text: sanitize(turn.text),
  audio_offset_ms: turn.audioOffsetMs,
})
