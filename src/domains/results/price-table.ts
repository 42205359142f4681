import { z } from 'zod'

const price = z.number().min(0).max(10_000).default(0)

/** US dollars. */
const modelPrice = z.strictObject({
  input_tokens_per_million: price,
  output_tokens_per_million: price,
  audio_in_per_minute: price,
  audio_out_per_minute: price,
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
  // Dollars per million tokens are millionths of a dollar per token.
  const tokens =
    usage.inputTokens * price.input_tokens_per_million +
    usage.outputTokens * price.output_tokens_per_million
  const audio =
    (usage.audioInMs * price.audio_in_per_minute + usage.audioOutMs * price.audio_out_per_minute) /
    minuteMs
  return Math.round(tokens + audio * 1_000_000)
}
