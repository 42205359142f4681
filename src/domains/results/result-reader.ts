import type { TranscriptTurn } from '../../contract/call-results.ts'
import { sql, type Queryable } from '../../database/database.ts'
import { shownFragment } from '../calls/call-store.ts'
import type { ResultState } from './result-states.ts'
import type { CallKey } from './transcript-store.ts'

interface ResultHeadRow {
  /** Null before the call has ended. */
  readonly status: ResultState['status'] | null
  readonly reason: string | null
  readonly revision: number | null
  readonly generated_at: Date | null
}

/** The present state of a result, of a call that the API may show. */
export interface ResultHead {
  readonly state: ResultState
  readonly revision: number
  readonly generatedAt: Date | null
}

const headOf = (row: ResultHeadRow): ResultHead => ({
  state:
    row.status === null
      ? { status: 'processing', reason: 'call_not_ended' }
      : // The table's check constraint and the writers' types keep status and reason in step.
        ({ status: row.status, reason: row.reason } as ResultState),
  revision: row.revision ?? 0,
  generatedAt: row.generated_at,
})

const summaryStatement = sql(
  'result-reader.readSummary',
  `select r.status, r.reason, r.revision, r.generated_at, v.content ->> 'summary' as summary
     from calls c
     left join results r
            on r.organization_id = c.organization_id and r.call_id = c.id and r.kind = 'summary'
     left join result_revisions v
            on v.organization_id = r.organization_id and v.call_id = r.call_id and v.kind = r.kind
           and v.revision = r.revision and r.status = 'ready'
    where c.organization_id = $1
      and c.id = $2
      and ${shownFragment('c')}`,
)

/** Undefined for a call outside the API. `summary` is null unless ready. */
export const readSummary = async (
  db: Queryable,
  { organizationId, callId }: CallKey,
): Promise<(ResultHead & { readonly summary: string | null }) | undefined> => {
  const row = await db.row<ResultHeadRow & { summary: string | null }>(summaryStatement, [
    organizationId,
    callId,
  ])
  return row && { ...headOf(row), summary: row.summary }
}

const turnsOf = (revision: string, position: string, count: string): string => `
          (select jsonb_agg(e.turn order by e.position)
             from jsonb_array_elements(${revision}.content -> 'turns') with ordinality as e (turn, position)
            where e.position > ${position}
              and e.position <= ${position} + ${count}) as turns`

const transcriptStatement = sql(
  'result-reader.readTranscript',
  `select r.status, r.reason, r.revision, r.generated_at, ${turnsOf('v', '0', '$3::int')}
     from calls c
     left join results r
            on r.organization_id = c.organization_id and r.call_id = c.id and r.kind = 'transcript'
     left join result_revisions v
            on v.organization_id = r.organization_id and v.call_id = r.call_id and v.kind = r.kind
           and v.revision = r.revision and r.status = 'ready'
    where c.organization_id = $1
      and c.id = $2
      and ${shownFragment('c')}`,
)

/** The first `count` turns of the newest revision. Undefined for a call outside the API. */
export const readTranscript = async (
  db: Queryable,
  { organizationId, callId }: CallKey,
  count: number,
): Promise<(ResultHead & { readonly turns: TranscriptTurn[] }) | undefined> => {
  const row = await db.row<ResultHeadRow & { turns: TranscriptTurn[] | null }>(
    transcriptStatement,
    [organizationId, callId, count],
  )
  return row && { ...headOf(row), turns: row.turns ?? [] }
}

const pinnedStatement = sql(
  'result-reader.readPinnedTranscript',
  `select v.generated_at, ${turnsOf('v', '$4::int', '$5::int')}
     from calls c
     join result_revisions v
       on v.organization_id = c.organization_id and v.call_id = c.id and v.kind = 'transcript'
    where c.organization_id = $1
      and c.id = $2
      and ${shownFragment('c')}
      and v.revision = $3
      and (v.superseded_at is null or v.superseded_at > now() - interval '24 hours')`,
)

export interface TranscriptPosition {
  readonly revision: number
  /** How many turns of the revision were already read. */
  readonly position: number
}

/** Turns of one revision, also after newer ones. Undefined once it is no longer readable (D7). */
export const readPinnedTranscript = async (
  db: Queryable,
  { organizationId, callId }: CallKey,
  { revision, position }: TranscriptPosition,
  count: number,
): Promise<{ readonly generatedAt: Date; readonly turns: TranscriptTurn[] } | undefined> => {
  const row = await db.row<{ generated_at: Date; turns: TranscriptTurn[] | null }>(
    pinnedStatement,
    [organizationId, callId, revision, position, count],
  )
  return row && { generatedAt: row.generated_at, turns: row.turns ?? [] }
}
