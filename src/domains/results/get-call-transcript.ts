import { invalidField, notFound } from '../../contract/api-error.ts'
import { transcriptPageBytes, type TranscriptTurn } from '../../contract/call-results.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import type { ApiHandler } from '../api-handler.ts'
import { resultSchemaVersion } from '../../contract/versions.ts'
import type { Queryable } from '../../database/database.ts'
import {
  readPinnedTranscript,
  readTranscript,
  type ResultHead,
  type TranscriptPosition,
} from './result-reader.ts'
import { pollAfterSeconds } from './result-states.ts'
import type { CallKey } from './transcript-store.ts'

/**
 * GET /calls/{call_id}/transcript: always 200 for a known call. A cursor's `sort` is its revision and its `id` the
 * number of turns already read; a newer revision shows only when paging restarts without a cursor (D7).
 */
export const getCallTranscript: ApiHandler<'getCallTranscript'> = async (
  { params: { call_id: callId }, query: { limit, cursor } },
  { db, organizationId },
) => {
  const call = { organizationId, callId }
  // One more than the page holds shows whether another follows.
  const found = cursor
    ? await readAt(
        db,
        call,
        { revision: Number(cursor.sort), position: Number(cursor.id) },
        limit + 1,
      )
    : await readNewest(db, call, limit + 1)
  const { state, revision, generatedAt, turns, position } = found
  const head = {
    object: 'call_transcript',
    schema_version: resultSchemaVersion,
    call_id: callId,
    revision,
  } as const
  if (state.status === 'ready') {
    if (generatedAt === null) throw new Error(`The transcript of call ${callId} has no date.`)
    const page = pageOf(turns, limit)
    const next =
      page.length < turns.length
        ? { sort: String(revision), id: String(position + page.length) }
        : null
    return { ...head, ...state, turns: page, generated_at: formatDateTime(generatedAt), next }
  }
  const absent = { ...head, turns: null, generated_at: null, next: null }
  return state.status === 'processing'
    ? { ...absent, ...state, poll_after_seconds: pollAfterSeconds[state.reason] }
    : { ...absent, ...state }
}

type Found = ResultHead & { readonly turns: readonly TranscriptTurn[]; readonly position: number }

const readNewest = async (db: Queryable, call: CallKey, count: number): Promise<Found> => {
  const transcript = await readTranscript(db, call, count)
  if (!transcript) throw notFound()
  return { ...transcript, position: 0 }
}

const readAt = async (
  db: Queryable,
  call: CallKey,
  at: TranscriptPosition,
  count: number,
): Promise<Found> => {
  const transcript = await readPinnedTranscript(db, call, at, count)
  if (!transcript) throw invalidField('cursor', 'invalid_cursor')
  return { ...transcript, ...at, state: { status: 'ready', reason: null } }
}

/** At most `limit` turns and 256 KiB of their text, but always one. */
const pageOf = (turns: readonly TranscriptTurn[], limit: number): TranscriptTurn[] => {
  let bytes = 0
  const page: TranscriptTurn[] = []
  for (const turn of turns.slice(0, limit)) {
    bytes += Buffer.byteLength(turn.text)
    if (page.length > 0 && bytes > transcriptPageBytes) break
    page.push(turn)
  }
  return page
}
