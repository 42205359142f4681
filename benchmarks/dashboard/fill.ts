import { createHash } from 'node:crypto'
import { sql, type Database } from '../../src/database/database.ts'
import { newId } from '../../src/runtime/ids.ts'
import { fill } from '../lists/fill.ts'

const turnsOfHalfAnHour = 360
const turnSeconds = 5

/** As many contacts as calls, of one organization; returns the id of a call of half an hour. */
export const fillDashboard = async (db: Database, calls: number): Promise<string> => {
  const { organizationId } = await fill(db, calls)
  await run(
    db,
    `insert into contacts (organization_id, id, source, external_id, name, phone_number, created_at)
     select $1::uuid, uuidv7(), 'crm', 'more-' || n, 'Contact', '+1303' || lpad(n::text, 7, '0'),
            now() - (n || ' seconds')::interval
       from generate_series(1, $2::integer) as n`,
    [organizationId, calls - Math.floor(calls / 4)],
  )
  await run(
    db,
    `insert into lanes (organization_id, id, kind, source_id, time_zones, rank, opens_at, closes_at, recompute_at)
     values ($1, $1, 'immediate', $1, '', 0, now() - interval '1 hour', now() + interval '8 hours', 'infinity')`,
    [organizationId],
  )
  const [call] = await db.rows<{ id: string }>(
    sql(
      'bench.newestEnded',
      `select id from calls where organization_id = $1 and status = 'completed' order by created_at desc limit 1`,
    ),
    [organizationId],
  )
  if (!call) throw new Error('no call has ended')
  const turns = Array.from({ length: turnsOfHalfAnHour }, (_, sequence) => ({
    sequence,
    id: newId(),
    speaker: sequence % 2 === 0 ? 'agent' : 'contact',
    text: `These are about as many words as are said in five seconds of a call, number ${sequence}.`,
    audio_offset_ms: sequence * turnSeconds * 1_000,
  }))
  const content = JSON.stringify({ turns })
  const hash = createHash('sha256').update(content).digest()
  await run(
    db,
    `insert into transcript_turns (organization_id, call_id, sequence, id, speaker, text, audio_offset_ms)
     select $1::uuid, $2::uuid, t.sequence, t.id, t.speaker, t.text, t.audio_offset_ms
       from jsonb_to_recordset($3::jsonb) as t (sequence integer, id uuid, speaker text, text text, audio_offset_ms integer)`,
    [organizationId, call.id, JSON.stringify(turns)],
  )
  await run(
    db,
    `insert into results (organization_id, call_id, kind, status, revision, generated_at, content_hash)
     values ($1, $2, 'transcript', 'ready', 1, now(), $3)`,
    [organizationId, call.id, hash],
  )
  await run(
    db,
    `insert into result_revisions (organization_id, call_id, kind, revision, content, content_hash, generated_at)
     values ($1, $2, 'transcript', 1, $3, $4, now())`,
    [organizationId, call.id, content, hash],
  )
  await run(
    db,
    `update calls set connected_at = created_at, ended_at = created_at + interval '30 minutes'
      where organization_id = $1 and id = $2`,
    [organizationId, call.id],
  )
  await run(db, 'analyze')
  return call.id
}

let statements = 0

const run = (db: Database, text: string, values: readonly unknown[] = []): Promise<number> => {
  statements += 1
  return db.run(sql(`bench.dashboard.${statements}`, text), values)
}
