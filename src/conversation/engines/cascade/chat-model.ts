import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  extractReasoningMiddleware,
  jsonSchema,
  streamText,
  tool,
  wrapLanguageModel,
  type ModelMessage,
  type ToolSet,
} from 'ai'
import { withLearnedMembers } from '../../../call-text/chat-members.ts'
import type { ToolSpec } from '../../engine/voice-engine.ts'
import type { CallMetadata } from './chat-history.ts'
import { withWholeStreams } from './chat-stream.ts'
import { ProviderError, refusalOf, withinLimit } from './provider-error.ts'
import type { ServerSettings } from './providers/provider-settings.ts'

/** Replies by `POST /chat/completions`, streamed. */
export interface ChatModel {
  /** Throws `ProviderError`. */
  reply(messages: readonly ModelMessage[], signal: AbortSignal): AsyncIterable<ReplyPart>
}

export type ReplyPart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'tool_call'
      readonly id: string
      readonly name: string
      readonly arguments: unknown
      /** Belongs to the call and goes back with it. */
      readonly metadata?: CallMetadata
    }
  | {
      readonly type: 'usage'
      readonly inputTokens: number
      readonly outputTokens: number
      readonly cachedInputTokens: number
    }

/** A callee does not wait longer for the first word, nor between two. */
const silenceLimitMs = 8_000
/** Some minutes of speech; the thoughts of a reasoning model count too. */
const maxOutputTokens = 4_000

export const createChatModel = (
  { url, key, model = 'gpt-4o-mini' }: ServerSettings,
  instructions: string,
  specs: readonly ToolSpec[],
  request: typeof fetch,
): ChatModel => {
  const provider = createOpenAICompatible({
    name: 'outdial',
    baseURL: url.replace(/\/$/, ''),
    includeUsage: true,
    fetch: withWholeStreams(withLearnedMembers(request)),
    ...(key !== undefined && { apiKey: key }),
  })
  const languageModel = wrapLanguageModel({
    model: provider(model),
    // Some models write their thoughts before the reply; the callee must not hear them.
    middleware: extractReasoningMiddleware({ tagName: 'think' }),
  })
  const tools: ToolSet = Object.fromEntries(
    specs.map(({ name, description, parameters }) => [
      name,
      tool({ description, inputSchema: jsonSchema(parameters) }),
    ]),
  )

  return {
    async *reply(messages, signal) {
      const giveUp = new AbortController()
      const { stream } = streamText({
        model: languageModel,
        instructions,
        messages: [...messages],
        tools,
        maxOutputTokens,
        // The session decides on retries, because it knows what the callee has heard.
        maxRetries: 0,
        abortSignal: AbortSignal.any([signal, giveUp.signal]),
        // A failure arrives as a part of the stream.
        onError: () => {},
      })
      const parts = stream[Symbol.asyncIterator]()
      try {
        for (;;) {
          const next = await withinLimit(parts.next(), silenceLimitMs, 'model_timeout')
          if (next.done) return
          const part = next.value
          if (part.type === 'text-delta') yield { type: 'text', text: part.text }
          else if (part.type === 'tool-call') yield toolCall(part)
          else if (part.type === 'finish') yield usageOf(part.totalUsage)
          else if (part.type === 'error') throw failure(part.error)
          else if (part.type === 'abort') signal.throwIfAborted()
        }
      } catch (error) {
        // A broken connection arrives as the SDK's own error, not as a part.
        throw error instanceof ProviderError || signal.aborted ? error : failure(error)
      } finally {
        giveUp.abort()
      }
    },
  }
}

/** Arguments that are not JSON arrive as text; the loop reports the error to the model. */
const toolCall = (part: {
  toolCallId: string
  toolName: string
  input: unknown
  providerMetadata?: CallMetadata | undefined
}): ReplyPart => ({
  type: 'tool_call',
  id: part.toolCallId,
  name: part.toolName,
  arguments: part.input,
  ...(part.providerMetadata && { metadata: part.providerMetadata }),
})

const usageOf = (usage: {
  inputTokens: number | undefined
  outputTokens: number | undefined
  inputTokenDetails: { cacheReadTokens: number | undefined }
}): ReplyPart => ({
  type: 'usage',
  inputTokens: usage.inputTokens ?? 0,
  outputTokens: usage.outputTokens ?? 0,
  cachedInputTokens: usage.inputTokenDetails.cacheReadTokens ?? 0,
})

/** The SDK's error contains the whole request with its words; only the safe parts are kept for the log. */
const failure = (error: unknown): ProviderError => {
  const { statusCode, responseHeaders, cause } = (error ?? {}) as {
    statusCode?: unknown
    responseHeaders?: Readonly<Record<string, string>>
    cause?: unknown
  }
  if (typeof statusCode === 'number' && statusCode >= 400) {
    const message = `The model answered ${statusCode}.`
    const refusal = refusalOf(statusCode, responseHeaders?.['retry-after'])
    return new ProviderError('model_failed', message, refusal)
  }
  const { code } = (cause ?? {}) as { code?: unknown }
  const why = typeof code === 'string' ? ` (${code})` : ''
  return new ProviderError('model_failed', `The model cannot be reached${why}.`)
}
