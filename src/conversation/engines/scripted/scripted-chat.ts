import { readFencedTurns } from '../../../call-text/fenced-turns.ts'
import { summarize } from '../../../call-text/summarize.ts'
import { createDialogue, type ScriptedReply } from './dialogue.ts'

export interface ChatRequest {
  /** The messages as sent: the scripted model uses the parts it understands. */
  readonly messages: readonly Readonly<Record<string, unknown>>[]
  readonly tools: ReadonlySet<string>
  readonly wantsJson: boolean
}

interface ChatAnswer {
  readonly message: {
    readonly content: string | null
    readonly tool_calls?: readonly FunctionCall[]
  }
  readonly usage: {
    readonly prompt_tokens: number
    readonly completion_tokens: number
    readonly total_tokens: number
  }
}

interface FunctionCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

/**
 * The scripted model over chat: it has no memory, so it replays the conversation from its
 * beginning.
 */
export const answerChat = (request: ChatRequest): ChatAnswer => {
  const texts = request.messages.map(({ content }) => textOf(content))
  const { text, calls } = request.wantsJson ? summaryOf(texts) : converse(request)
  const toolCalls = calls.map((call, index) => ({
    // Unique within the conversation, and stable for the same request.
    id: `call_${request.messages.length}_${index}`,
    type: 'function' as const,
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
  }))
  return {
    message: {
      content: text === '' ? null : text,
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    },
    usage: usageOf(texts.join(' '), text),
  }
}

const silence: ScriptedReply = { text: '', calls: [] }

const converse = ({ messages, tools }: ChatRequest): ScriptedReply => {
  const said = messages.map(({ role, content }) => ({ role, text: textOf(content) }))
  const instructions = said.find(({ role }) => role === 'system')?.text ?? ''
  const greeting = said.find(({ role }) => role === 'assistant')?.text ?? ''
  const dialogue = createDialogue({ instructions, tools, greeting: () => greeting })
  let heard: string[] = []
  let reply = silence
  for (const { role, text } of said) {
    if (role === 'user') heard.push(text)
    if (role !== 'assistant' || heard.length === 0) continue
    dialogue.reply(heard.join(' '))
    heard = []
  }
  if (heard.length > 0) reply = dialogue.reply(heard.join(' '))
  return reply
}

const summaryOf = (texts: readonly string[]): ScriptedReply => {
  const { summary, outcome, outcomeReason } = summarize({
    turns: readFencedTurns(texts.join('\n')),
    optedOut: false,
    voicemail: 'none',
    configuredOutcomes: [],
  })
  const text = JSON.stringify({ summary, outcome, outcome_reason: outcomeReason })
  return { text, calls: [] }
}

const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part: unknown) => (part as { text?: unknown } | null)?.text)
    .filter((text) => typeof text === 'string')
    .join(' ')
}

const charactersPerToken = 4

const usageOf = (prompt: string, completion: string) => {
  const promptTokens = Math.ceil(prompt.length / charactersPerToken)
  const completionTokens = Math.ceil(completion.length / charactersPerToken)
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
}
