import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import type { Synthesizer } from '../../../audio/flite.ts'
import { resample } from '../../../audio/resample.ts'
import { readWav, WavFormatError, writeWav } from '../../../audio/wav.ts'
import { parseObject } from '../realtime/protocol.ts'
import { readWholeBody, readForm } from './request-body.ts'
import { answerChat, type ChatRequest } from './scripted-chat.ts'
import { sampleSentences, type SampledSentence } from './scripted-voice.ts'
import type { Understanding } from './understanding.ts'

interface ScriptedHttpOptions {
  readonly understanding: Understanding
  readonly synthesizer: Synthesizer
}

const lineRateHz = 8_000
const speechRateHz = 24_000
const maxBodyBytes = 8 * 1024 * 1024

const chatSchema = z.object({
  model: z.string().default('scripted'),
  messages: z.array(z.record(z.string(), z.unknown())).min(1),
  tools: z.array(z.object({ function: z.object({ name: z.string() }) })).default([]),
  stream: z.boolean().default(false),
  response_format: z.object({ type: z.string() }).optional(),
})

const speechSchema = z.object({
  input: z.string().min(1).max(4_096),
  voice: z.string().default('slt'),
  response_format: z.enum(['pcm', 'wav']).default('wav'),
})

/**
 * The scripted model over HTTP: transcription, chat and speech, in the format of OpenAI's servers.
 */
export const createScriptedHttp = (options: ScriptedHttpOptions) => {
  const routes: Readonly<Record<string, (body: Buffer, request: IncomingMessage) => Answer>> = {
    'POST /v1/audio/transcriptions': (body, { headers }) =>
      transcribe(readForm(body, headers['content-type'] ?? ''), options),
    'POST /v1/chat/completions': (body) => chat(body),
    'POST /v1/audio/speech': (body) => speak(body, options),
    'GET /v1/models': () => ({
      kind: 'json',
      body: {
        object: 'list',
        data: [{ id: 'scripted', object: 'model', created: 0, owned_by: 'outdial' }],
      },
    }),
  }
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    const route = routes[`${request.method ?? ''} ${path}`]
    const body = await readWholeBody(request, maxBodyBytes)
    if (!route) return send(response, refused(404, 'There is nothing here.'))
    if (body === undefined) return send(response, refused(413, 'That is too long.'))
    send(response, route(body, request))
  }
}

type Answer =
  | { readonly kind: 'json'; readonly status?: number; readonly body: object }
  | { readonly kind: 'events'; readonly events: readonly object[] }
  | { readonly kind: 'audio'; readonly type: string; readonly chunks: Iterable<Uint8Array> }

const send = (response: ServerResponse, answer: Answer): void => {
  switch (answer.kind) {
    case 'json':
      response.writeHead(answer.status ?? 200, { 'content-type': 'application/json' })
      return void response.end(JSON.stringify(answer.body))
    case 'events':
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const event of answer.events) response.write(`data: ${JSON.stringify(event)}\n\n`)
      return void response.end('data: [DONE]\n\n')
    case 'audio':
      response.writeHead(200, { 'content-type': answer.type })
      for (const chunk of answer.chunks) response.write(chunk)
      return void response.end()
  }
}

const refused = (status: number, message: string): Answer => ({
  kind: 'json',
  status,
  body: { error: { message, type: 'invalid_request_error', param: null, code: null } },
})

const transcribe = (
  form: ReturnType<typeof readForm>,
  { understanding }: ScriptedHttpOptions,
): Answer => {
  const file = form?.get('file')
  if (file === undefined) return refused(400, 'There is no file.')
  try {
    const { samples, sampleRateHz } = readWav(file)
    const text = understanding.understand(resample(samples, sampleRateHz, lineRateHz))
    if (form?.get('response_format')?.toString('utf8') !== 'verbose_json') {
      return { kind: 'json', body: { text } }
    }
    const duration = samples.length / sampleRateHz
    const segment = {
      id: 0,
      start: 0,
      end: duration,
      text,
      avg_logprob: -0.2,
      no_speech_prob: 0.01,
    }
    return {
      kind: 'json',
      body: { task: 'transcribe', language: 'english', duration, text, segments: [segment] },
    }
  } catch (error) {
    if (error instanceof WavFormatError || error instanceof RangeError) {
      return refused(400, error.message)
    }
    throw error
  }
}

const chat = (body: Buffer): Answer => {
  const parsed = chatSchema.safeParse(parseObject(body.toString('utf8')))
  if (!parsed.success) return refused(400, 'This is no chat.')
  const { model, stream, tools, messages, response_format: format } = parsed.data
  const request: ChatRequest = {
    messages,
    tools: new Set(tools.map((tool) => tool.function.name)),
    wantsJson: format !== undefined && format.type !== 'text',
  }
  const { message, usage } = answerChat(request)
  const finishReason = message.tool_calls ? 'tool_calls' : 'stop'
  const head = { id: 'chatcmpl-scripted', created: 0, model }
  if (!stream) {
    const choice = {
      index: 0,
      message: { role: 'assistant', ...message },
      finish_reason: finishReason,
    }
    return { kind: 'json', body: { ...head, object: 'chat.completion', choices: [choice], usage } }
  }
  const chunk = (delta: object, reason: string | null, more: object = {}): object => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: reason }],
    ...more,
  })
  const words = (message.content ?? '').split(/(?<=\s)/)
  return {
    kind: 'events',
    events: [
      chunk({ role: 'assistant', content: '' }, null),
      ...words.filter((word) => word !== '').map((word) => chunk({ content: word }, null)),
      ...(message.tool_calls ?? []).map((call, index) =>
        chunk({ tool_calls: [{ index, ...call }] }, null),
      ),
      chunk({}, finishReason, { usage }),
    ],
  }
}

const speak = (body: Buffer, { synthesizer }: ScriptedHttpOptions): Answer => {
  const parsed = speechSchema.safeParse(parseObject(body.toString('utf8')))
  if (!parsed.success) return refused(400, 'There is nothing to be said.')
  const { input, voice, response_format: format } = parsed.data
  const sentences = sampleSentences(input, voice, synthesizer)
  return format === 'pcm'
    ? { kind: 'audio', type: `audio/pcm;rate=${speechRateHz}`, chunks: pcmOf(sentences) }
    : { kind: 'audio', type: 'audio/wav', chunks: [wavOf(sentences)] }
}

function* pcmOf(sentences: Iterable<SampledSentence>): Generator<Uint8Array> {
  for (const { samples } of sentences) {
    const { buffer, byteOffset, byteLength } = resample(samples, lineRateHz, speechRateHz)
    // Little-endian, like the format and every supported machine.
    yield new Uint8Array(buffer, byteOffset, byteLength)
  }
}

const wavOf = (sentences: Iterable<SampledSentence>): Uint8Array => {
  const all = [...sentences].flatMap(({ samples }) => [...samples])
  return writeWav(Int16Array.from(all), lineRateHz)
}
