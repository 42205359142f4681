import { notFound } from '../../contract/api-error.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import type { ApiHandler } from '../api-handler.ts'
import { resultSchemaVersion } from '../../contract/versions.ts'
import { readSummary } from './result-reader.ts'
import { pollAfterSeconds } from './result-states.ts'

/** GET /calls/{call_id}/summary: always 200 for a known call (D7). */
export const getCallSummary: ApiHandler<'getCallSummary'> = async (
  { params: { call_id: callId } },
  { db, organizationId },
) => {
  const result = await readSummary(db, { organizationId, callId })
  if (!result) throw notFound()
  const { state, revision, generatedAt, summary } = result
  const head = {
    object: 'call_summary',
    schema_version: resultSchemaVersion,
    call_id: callId,
    revision,
  } as const
  if (state.status === 'ready' && summary !== null && generatedAt !== null) {
    return { ...head, ...state, summary, generated_at: formatDateTime(generatedAt) }
  }
  if (state.status === 'ready')
    throw new Error(`The summary of call ${callId} has lost its content.`)
  const absent = { ...head, summary: null, generated_at: null }
  return state.status === 'processing'
    ? { ...absent, ...state, poll_after_seconds: pollAfterSeconds[state.reason] }
    : { ...absent, ...state }
}
