import type { TurnSpeaker } from '../../contract/states.ts'
import { list, sql, type Queryable } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { newId } from '../../runtime/ids.ts'

/** Identifies the call. */
export interface CallKey {
  readonly organizationId: OrganizationId
  readonly callId: string
}

/** A turn as spoken. */
export interface SpokenTurn {
  /** From 1, without gaps, in the order in which the turns became final. */
  readonly sequence: number
  readonly speaker: TurnSpeaker
  readonly text: string
  /** First voiced sample of the turn on the recording's clock, which starts at the answer. */
  readonly audioOffsetMs: number
}

export interface StoredTurn extends SpokenTurn {
  readonly id: string
}

/** Ten minutes of continuous talk. Longer text is a fault of the engine, and is cut. */
const maxTurnLength = 20_000

const appendStatement = sql(
  'transcript-store.appendTurn',
  `insert into transcript_turns (organization_id, call_id, sequence, id, speaker, text, audio_offset_ms)
   values ($1, $2, $3, $4, $5, $6, $7)
   on conflict (organization_id, call_id, sequence) do nothing`,
)

/** Stores a final turn. Idempotent by call and sequence: the first text stays. */
export const appendTurn = async (db: Queryable, call: CallKey, turn: SpokenTurn): Promise<void> => {
  await db.run(appendStatement, [
    call.organizationId,
    call.callId,
    turn.sequence,
    newId(),
    turn.speaker,
    storableText(turn.text),
    Math.max(0, Math.round(turn.audioOffsetMs)),
  ])
}

/**
 * An engine's text is untrusted: PostgreSQL refuses NUL and would store half a surrogate pair as something else.
 */
const storableText = (text: string): string =>
  Array.from(text.toWellFormed().replaceAll('\u0000', '')).slice(0, maxTurnLength).join('')

const hasTurnsStatement = sql(
  'transcript-store.hasTurns',
  `select exists (
     select
       from transcript_turns
      where organization_id = $1
        and call_id = $2) as has_turns`,
)

/** Whether the call has any turn. */
export const hasTurns = async (db: Queryable, call: CallKey): Promise<boolean> => {
  const row = await db.row<{ has_turns: boolean }>(hasTurnsStatement, [
    call.organizationId,
    call.callId,
  ])
  return row?.has_turns ?? false
}

const listStatement = sql(
  'transcript-store.listTurnsAfter',
  `select id, sequence, speaker, text, audio_offset_ms
     from transcript_turns
    where organization_id = $1
      and call_id = $2
      and sequence > $3
    order by sequence`,
)

interface TurnRow {
  readonly id: string
  readonly sequence: number
  readonly speaker: TurnSpeaker
  readonly text: string
  readonly audio_offset_ms: number
}

/** Turns as spoken, after a given one, in sequence. Raw: clients see a revision instead. */
export const listTurnsAfter = async (
  db: Queryable,
  organizationId: OrganizationId,
  callId: string,
  sequence: number,
): Promise<StoredTurn[]> => {
  const rows = await db.rows<TurnRow>(listStatement, [organizationId, callId, sequence])
  return rows.map(({ audio_offset_ms: audioOffsetMs, ...turn }) => ({ ...turn, audioOffsetMs }))
}

/** Turns of one call that are told at one time: more were missed than anyone reads on the way. */
const maxNewTurns = 20

const listNewStatement = list(
  'transcript-store.listNewTurns',
  `select k.call_id, t.sequence, t.speaker, t.text, t.audio_offset_ms
     from unnest($2::uuid[], $3::integer[]) as k (call_id, after)
    cross join lateral (
            select sequence, speaker, text, audio_offset_ms
              from transcript_turns
             where organization_id = $1
               and call_id = k.call_id
               and sequence > k.after
             order by sequence desc
             limit ${maxNewTurns}
          ) as t
    order by k.call_id, t.sequence`,
)

interface NewTurn extends SpokenTurn {
  readonly callId: string
}

/** The newest turns of calls, each after the sequence that is given for it. */
export const listNewTurns = async (
  db: Queryable,
  organizationId: OrganizationId,
  after: ReadonlyMap<string, number>,
): Promise<NewTurn[]> => {
  const values = [organizationId, [...after.keys()], [...after.values()]]
  const rows = await db.rows<TurnRow & { call_id: string }>(listNewStatement, values)
  return rows.map(
    ({ call_id: callId, sequence, speaker, text, audio_offset_ms: audioOffsetMs }) => ({
      callId,
      sequence,
      speaker,
      text,
      audioOffsetMs,
    }),
  )
}

/**
 * All turns of a call in the order of the audio: words whose text came late were stored after the reply to them.
 */
export const listTurns = async (
  db: Queryable,
  { organizationId, callId }: CallKey,
): Promise<StoredTurn[]> =>
  (await listTurnsAfter(db, organizationId, callId, -1)).toSorted(
    (one, other) => one.audioOffsetMs - other.audioOffsetMs || one.sequence - other.sequence,
  )
