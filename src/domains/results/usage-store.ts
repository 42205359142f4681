import { sql, type Queryable } from '../../database/database.ts'
import type { ModelUsage } from './price-table.ts'
import type { CallKey } from './transcript-store.ts'

/** A call's usage of a model. */
export interface CallUsage extends ModelUsage {
  readonly purpose: 'conversation' | 'summary'
  /** `realtime`, `cascade` or `chat`. */
  readonly engine: string
  /** Host of the server. */
  readonly provider: string
  readonly model: string | undefined
  /** Millionths of a US dollar. */
  readonly costMicrousd: number | undefined
  readonly firstWordsMs: number | undefined
}

const insertUsageStatement = sql(
  'usage-store.insertUsage',
  `insert into call_usage (organization_id, call_id, purpose, engine, provider, model, input_tokens, output_tokens,
                           audio_in_ms, audio_out_ms, cost_microusd, first_words_ms,
                           audio_input_tokens, cached_input_tokens, cached_audio_input_tokens, audio_output_tokens)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
   on conflict (organization_id, call_id, purpose) do update
      set input_tokens        = call_usage.input_tokens + excluded.input_tokens,
          output_tokens       = call_usage.output_tokens + excluded.output_tokens,
          cached_input_tokens = call_usage.cached_input_tokens + excluded.cached_input_tokens,
          cost_microusd       = call_usage.cost_microusd + excluded.cost_microusd
    where excluded.purpose = 'summary'`,
)

/** For a conversation the first row stays; the usage of summaries adds up, because each attempt is paid. */
export const insertUsage = async (
  db: Queryable,
  { organizationId, callId }: CallKey,
  usage: CallUsage,
): Promise<void> => {
  await db.run(insertUsageStatement, [
    organizationId,
    callId,
    usage.purpose,
    usage.engine,
    usage.provider,
    usage.model ?? null,
    usage.inputTokens,
    usage.outputTokens,
    Math.round(usage.audioInMs),
    Math.round(usage.audioOutMs),
    usage.costMicrousd ?? null,
    usage.firstWordsMs === undefined ? null : Math.round(usage.firstWordsMs),
    usage.audioInputTokens ?? 0,
    usage.cachedInputTokens ?? 0,
    usage.cachedAudioInputTokens ?? 0,
    usage.audioOutputTokens ?? 0,
  ])
}

/** The latency of one reply of the agent, stage by stage; milliseconds. */
export interface StoredLatency {
  readonly audioOffsetMs: number
  readonly endpointingMs: number
  readonly transcriptionMs: number | null
  readonly modelMs: number
  readonly speechMs: number | null
  readonly ownMs: number
  readonly totalMs: number
}

const insertLatenciesStatement = sql(
  'usage-store.insertTurnLatencies',
  `insert into turn_latencies (organization_id, call_id, audio_offset_ms, endpointing_ms, transcription_ms, model_ms,
                               speech_ms, own_ms, total_ms)
   select $1, $2, each.*
     from unnest($3::int[], $4::int[], $5::int[], $6::int[], $7::int[], $8::int[], $9::int[]) as each
   on conflict (organization_id, call_id, audio_offset_ms) do nothing`,
)

/** All of a call at once; the first rows stay. */
export const insertTurnLatencies = async (
  db: Queryable,
  { organizationId, callId }: CallKey,
  latencies: readonly StoredLatency[],
): Promise<void> => {
  if (latencies.length === 0) return
  const columns = (
    [
      'audioOffsetMs',
      'endpointingMs',
      'transcriptionMs',
      'modelMs',
      'speechMs',
      'ownMs',
      'totalMs',
    ] as const
  ).map((member) => latencies.map((latency) => latency[member]))
  await db.run(insertLatenciesStatement, [organizationId, callId, ...columns])
}

const listUsageStatement = sql(
  'usage-store.listUsage',
  `select purpose, engine, provider, model,
          input_tokens::float8 as input_tokens, output_tokens::float8 as output_tokens,
          audio_in_ms::float8 as audio_in_ms, audio_out_ms::float8 as audio_out_ms,
          cost_microusd::float8 as cost_microusd, first_words_ms,
          audio_input_tokens::float8 as audio_input_tokens, cached_input_tokens::float8 as cached_input_tokens,
          cached_audio_input_tokens::float8 as cached_audio_input_tokens,
          audio_output_tokens::float8 as audio_output_tokens
     from call_usage
    where organization_id = $1
      and call_id = $2
    order by purpose`,
)

/** As commands print it. */
export interface UsageRow {
  readonly purpose: string
  readonly engine: string
  readonly provider: string
  readonly model: string | null
  readonly input_tokens: number
  readonly output_tokens: number
  readonly audio_in_ms: number
  readonly audio_out_ms: number
  readonly cost_microusd: number | null
  readonly first_words_ms: number | null
  /** Part of `input_tokens`, as are the cached ones of either kind. */
  readonly audio_input_tokens: number
  readonly cached_input_tokens: number
  readonly cached_audio_input_tokens: number
  readonly audio_output_tokens: number
}

export const listUsage = (
  db: Queryable,
  { organizationId, callId }: CallKey,
): Promise<UsageRow[]> => db.rows<UsageRow>(listUsageStatement, [organizationId, callId])

const listLatenciesStatement = sql(
  'usage-store.listTurnLatencies',
  `select audio_offset_ms, endpointing_ms, transcription_ms, model_ms, speech_ms, own_ms, total_ms
     from turn_latencies
    where organization_id = $1
      and call_id = $2
    order by audio_offset_ms`,
)

/** As commands print it. */
export interface LatencyRow {
  readonly audio_offset_ms: number
  readonly endpointing_ms: number
  readonly transcription_ms: number | null
  readonly model_ms: number
  readonly speech_ms: number | null
  readonly own_ms: number
  readonly total_ms: number
}

export const listTurnLatencies = (
  db: Queryable,
  { organizationId, callId }: CallKey,
): Promise<LatencyRow[]> => db.rows<LatencyRow>(listLatenciesStatement, [organizationId, callId])
