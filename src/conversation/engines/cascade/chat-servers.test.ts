import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { createModelSummarizer } from '../../../call-text/summarize-with-model.ts'
import { createChatHistory, type ToolCall } from './chat-history.ts'
import { createChatModel, type ReplyPart } from './chat-model.ts'
import { createProviderFetch } from './provider-fetch.ts'

type Json = Record<string, unknown>

/** What the server says to a request: a refusal, or undefined where it takes it. */
type Judge = (body: Json) => { readonly status: number; readonly error: object } | undefined

/** One chat server as its documentation has it. */
interface ChatRow {
  readonly name: string
  readonly judge: Judge
  /** Members of the request that it takes in the end. */
  readonly takes: readonly string[]
  readonly lacks: readonly string[]
}

const unsupported = (member: string, hint: string) => ({
  status: 400,
  error: {
    error: {
      message: `Unsupported parameter: '${member}' is not supported with this model. ${hint}`,
      type: 'invalid_request_error',
      param: member,
      code: 'unsupported_parameter',
    },
  },
})

const forbidden = (member: string) => ({
  status: 422,
  error: { detail: [{ type: 'extra_forbidden', loc: ['body', member], msg: 'Extra inputs.' }] },
})

/** Google refuses a turn that repeats a call without the signature that came with it. */
const missingSignature: Judge = (body) => {
  const messages = body['messages'] as { tool_calls?: Json[] }[]
  const calls = messages.flatMap(({ tool_calls: made }) => made ?? [])
  const isSigned = calls.every((call) =>
    JSON.stringify(call['extra_content'] ?? '').includes(signature),
  )
  const message = 'Function call is missing a thought_signature in functionCall parts.'
  return isSigned ? undefined : { status: 400, error: { error: { code: 400, message } } }
}
const signature = 'c2lnbmF0dXJl'

const rows: readonly ChatRow[] = [
  {
    name: 'a reasoning model of OpenAI',
    judge(body) {
      if ('max_tokens' in body)
        return unsupported('max_tokens', "Use 'max_completion_tokens' instead.")
      if ('temperature' in body) return unsupported('temperature', 'Only the default (1) is.')
      return undefined
    },
    takes: ['max_completion_tokens', 'stream_options'],
    lacks: ['max_tokens', 'temperature'],
  },
  {
    name: 'a server that forbids what it does not know',
    judge(body) {
      const unknown = ['max_completion_tokens', 'stream_options'].find((member) => member in body)
      return unknown === undefined ? undefined : forbidden(unknown)
    },
    takes: ['max_tokens'],
    lacks: ['max_completion_tokens', 'stream_options'],
  },
  {
    name: 'Gemini 3',
    judge: missingSignature,
    takes: ['max_completion_tokens', 'stream_options'],
    lacks: ['max_tokens'],
  },
]

const event = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({ id: '1', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

const usageEvent = `data: ${JSON.stringify({
  id: '1',
  choices: [],
  usage: {
    prompt_tokens: 50,
    completion_tokens: 7,
    total_tokens: 57,
    prompt_tokens_details: { cached_tokens: 30 },
  },
})}\n\n`

const answerTo = (body: Json): string => {
  const messages = body['messages'] as { role: string }[]
  if (messages.at(-1)?.role === 'tool') return event({ content: 'It is on its way.' }, 'stop')
  const call = {
    index: 0,
    id: 'function-call-1',
    type: 'function',
    function: { name: 'look_up', arguments: '{"order":7}' },
    extra_content: { google: { thought_signature: signature } },
  }
  return event({ role: 'assistant', tool_calls: [call] }, 'tool_calls')
}

const summary = JSON.stringify({
  summary: 'They spoke.',
  outcome: 'achieved',
  outcome_reason: 'It was said.',
})

const withRow = async (
  row: ChatRow,
  work: (url: string, requests: Json[]) => Promise<void>,
): Promise<void> => {
  const requests: Json[] = []
  const server = createServer((request, response) => {
    void readText(request).then((sent) => {
      const body = JSON.parse(sent) as Json
      requests.push(body)
      const refusal = row.judge(body)
      if (refusal)
        return response
          .writeHead(refusal.status, { 'content-type': 'application/json' })
          .end(JSON.stringify(refusal.error))
      if (body['stream'] !== true)
        return response.writeHead(200, { 'content-type': 'application/json' }).end(
          JSON.stringify({
            choices: [{ message: { role: 'assistant', content: summary }, finish_reason: 'stop' }],
          }),
        )
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      return response.end(`${answerTo(body)}${usageEvent}data: [DONE]\n\n`)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const specs = [
  { name: 'look_up', description: 'Finds an order.', parameters: { type: 'object' } },
] as const

for (const row of rows) {
  describe(`the chat model with ${row.name}`, () => {
    it('replies, calls a tool and goes on with its result, and is refused only at first', () =>
      withRow(row, async (url, requests) => {
        // What a server refuses is remembered for the process: another test must not have taught it.
        const settings = { url, model: `m-${randomUUID()}` }
        const history = createChatHistory()
        history.contactSaid('Where is my order?')
        const replyOf = async (): Promise<ReplyPart[]> => {
          const model = createChatModel(settings, 'Be kind.', specs, createProviderFetch(false))
          const parts: ReplyPart[] = []
          for await (const part of model.reply(history.messages(), new AbortController().signal))
            parts.push(part)
          return parts
        }
        const first = await replyOf()
        const call = first.find(({ type }) => type === 'tool_call') as ReplyPart & ToolCall
        assert.deepEqual([call.name, call.arguments], ['look_up', { order: 7 }])
        const used = first.find(({ type }) => type === 'usage')
        assert.ok(
          used?.type === 'usage' && used.inputTokens === 50 && used.cachedInputTokens === 30,
        )
        history.agentSaid('', '', [call])
        history.toolReturned(call, { found: true })

        const refusedBefore = requests.length - 1
        const second = await replyOf()
        assert.equal(
          second.map((part) => (part.type === 'text' ? part.text : '')).join(''),
          'It is on its way.',
        )
        assert.equal(requests.length, refusedBefore + 2, 'it was refused again')
        const taken = requests.at(-1) ?? {}
        for (const member of row.takes) assert.ok(member in taken, member)
        for (const member of row.lacks) assert.ok(!(member in taken), member)
      }))

    it('writes the summary too', () =>
      withRow(row, async (url) => {
        const summarizer = createModelSummarizer({ url, model: `m-${randomUUID()}` })
        const turns = [{ speaker: 'contact', text: 'Yes, please.' }] as const
        const written = await summarizer(
          { turns, configuredOutcomes: [], optedOut: false, voicemail: 'none' },
          new AbortController().signal,
        )
        assert.equal(written.summary, 'They spoke.')
      }))
  })
}
