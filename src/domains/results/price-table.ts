import { z } from 'zod'

const amount = z.number().min(0).max(10_000)
const price = amount.default(0)

/** US dollars. */
const modelPrice = z.strictObject({
  input_tokens_per_million: price,
  output_tokens_per_million: price,
  audio_in_per_minute: price,
  audio_out_per_minute: price,
  /** Each costs what the others of its direction cost, where it has no price of its own. */
  audio_input_tokens_per_million: amount.optional(),
  audio_output_tokens_per_million: amount.optional(),
  cached_input_tokens_per_million: amount.optional(),
  cached_audio_input_tokens_per_million: amount.optional(),
})

const priceTable = z.record(z.string().min(1).max(200), modelPrice)

/** Prices of models by name; `realtime` or `cascade` stands for a server that chooses its model itself. */
export type PriceTable = Readonly<Record<string, z.output<typeof modelPrice>>>

/** Parses a price table (parsed JSON). Throws a `ZodError` for an invalid one. */
export const parsePriceTable = (value: unknown): PriceTable => priceTable.parse(value)

/** The usage of a model. */
export interface ModelUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  /** Part of `inputTokens`, as are the cached ones of either kind. */
  readonly audioInputTokens?: number
  readonly cachedInputTokens?: number
  readonly cachedAudioInputTokens?: number
  readonly audioOutputTokens?: number
  readonly audioInMs: number
  readonly audioOutMs: number
}

const minuteMs = 60_000

/** Millionths of a dollar; undefined without a price. */
export const costOf = (
  price: PriceTable[string] | undefined,
  usage: ModelUsage,
): number | undefined => {
  if (price === undefined) return undefined
  const tokens = inputCost(price, usage) + outputCost(price, usage)
  const audio =
    (usage.audioInMs * price.audio_in_per_minute + usage.audioOutMs * price.audio_out_per_minute) /
    minuteMs
  return Math.round(tokens + audio * 1_000_000)
}

type ModelPrice = PriceTable[string]

/** Dollars per million tokens are millionths of a dollar per token. */
const inputCost = (price: ModelPrice, usage: ModelUsage): number => {
  const textPrice = price.input_tokens_per_million
  const audioPrice = price.audio_input_tokens_per_million ?? textPrice
  const cachedTextPrice = price.cached_input_tokens_per_million ?? textPrice
  const cachedAudioPrice =
    price.cached_audio_input_tokens_per_million ??
    price.cached_input_tokens_per_million ??
    audioPrice
  // A server's parts may exceed its whole; nothing is counted below zero.
  const audio = Math.min(usage.audioInputTokens ?? 0, usage.inputTokens)
  const cachedAudio = Math.min(usage.cachedAudioInputTokens ?? 0, audio)
  const text = usage.inputTokens - audio
  const cachedText = Math.min(Math.max(0, (usage.cachedInputTokens ?? 0) - cachedAudio), text)
  return (
    (text - cachedText) * textPrice +
    cachedText * cachedTextPrice +
    (audio - cachedAudio) * audioPrice +
    cachedAudio * cachedAudioPrice
  )
}

const outputCost = (price: ModelPrice, usage: ModelUsage): number => {
  const audio = Math.min(usage.audioOutputTokens ?? 0, usage.outputTokens)
  const audioPrice = price.audio_output_tokens_per_million ?? price.output_tokens_per_million
  return (usage.outputTokens - audio) * price.output_tokens_per_million + audio * audioPrice
}
