import type { TokenUsage } from '../../engine/voice-engine.ts'
import type { ResponseUsage } from './protocol.ts'

/** Adds up what the server says of its responses' tokens. */
export class TokenTally {
  #usage: Required<TokenUsage> = {
    inputTokens: 0,
    outputTokens: 0,
    audioInputTokens: 0,
    cachedInputTokens: 0,
    cachedAudioInputTokens: 0,
    audioOutputTokens: 0,
  }

  get usage(): Required<TokenUsage> {
    return this.#usage
  }

  add(usage: ResponseUsage | null | undefined): void {
    if (!usage) return
    const input = usage.input_token_details ?? usage.input_tokens_details
    const output = usage.output_token_details ?? usage.output_tokens_details
    const total = this.#usage
    this.#usage = {
      inputTokens: total.inputTokens + count(usage.input_tokens),
      outputTokens: total.outputTokens + count(usage.output_tokens),
      audioInputTokens: total.audioInputTokens + count(input?.audio_tokens),
      cachedInputTokens: total.cachedInputTokens + count(input?.cached_tokens),
      cachedAudioInputTokens:
        total.cachedAudioInputTokens + count(input?.cached_tokens_details?.audio_tokens),
      audioOutputTokens: total.audioOutputTokens + count(output?.audio_tokens),
    }
  }
}

/** What a server writes is not trusted to be a number. */
const count = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.round(value) : 0
