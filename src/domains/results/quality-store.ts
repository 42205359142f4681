import { sql, type Queryable } from '../../database/database.ts'
import type { CallKey } from './transcript-store.ts'

/** How well one direction of a call's audio was carried. */
export interface CallQuality {
  readonly direction: 'from_callee' | 'to_callee'
  readonly packets: number
  readonly packetsLost?: number
  readonly packetsLate?: number
  readonly concealed?: number
  readonly jitterMs?: number
  readonly delayMs?: number
  readonly roundTripMs?: number
  readonly mos?: number
}

const insertStatement = sql(
  'quality-store.insertQuality',
  `insert into call_quality (organization_id, call_id, direction, packets, packets_lost, packets_late, concealed,
                             jitter_ms, delay_ms, round_trip_ms, mos)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
   on conflict (organization_id, call_id, direction) do nothing`,
)

/** Once for each direction; the first row stays. */
export const insertQuality = async (
  db: Queryable,
  { organizationId, callId }: CallKey,
  qualities: readonly CallQuality[],
): Promise<void> => {
  for (const quality of qualities)
    await db.run(insertStatement, [
      organizationId,
      callId,
      quality.direction,
      quality.packets,
      quality.packetsLost ?? null,
      quality.packetsLate ?? null,
      quality.concealed ?? null,
      quality.jitterMs ?? null,
      quality.delayMs ?? null,
      quality.roundTripMs ?? null,
      quality.mos ?? null,
    ])
}

const listStatement = sql(
  'quality-store.listQuality',
  `select direction, packets::float8 as packets, packets_lost::float8 as packets_lost,
          packets_late::float8 as packets_late, concealed::float8 as concealed,
          round(jitter_ms::numeric, 1)::float8 as jitter_ms, round(delay_ms::numeric, 1)::float8 as delay_ms,
          round(round_trip_ms::numeric, 1)::float8 as round_trip_ms, round(mos::numeric, 2)::float8 as mos
     from call_quality
    where organization_id = $1
      and call_id = $2
    order by direction`,
)

/** As commands print it; null where nothing is known. */
export interface QualityRow {
  readonly direction: 'from_callee' | 'to_callee'
  readonly packets: number
  readonly packets_lost: number | null
  readonly packets_late: number | null
  /** Frames of 20 ms. */
  readonly concealed: number | null
  readonly jitter_ms: number | null
  readonly delay_ms: number | null
  readonly round_trip_ms: number | null
  /** E-model, 1 to 4.5. */
  readonly mos: number | null
}

export const listQuality = (
  db: Queryable,
  { organizationId, callId }: CallKey,
): Promise<QualityRow[]> => db.rows<QualityRow>(listStatement, [organizationId, callId])
