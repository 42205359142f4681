// Runs beside others: it waits for most of its 20 s.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { RealtimeAgent, RealtimeSession, tool } from '@openai/agents-realtime'
import OpenAI, { toFile } from 'openai'
import type { RealtimeServerEvent } from 'openai/resources/realtime/realtime'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { createSynthesizer } from '../../src/audio/flite.ts'
import { encodeG711, g711FrameBytes, g711Silence } from '../../src/audio/g711.ts'
import { resample } from '../../src/audio/resample.ts'
import { writeWav } from '../../src/audio/wav.ts'
import { createRealtimeEngine } from '../../src/conversation/engines/realtime/realtime-engine.ts'
import { verbatimInstructions } from '../../src/conversation/engines/realtime/protocol.ts'
import { ScriptedRealtimeServer } from '../../src/conversation/engines/scripted/scripted-realtime-server.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { missingPeer } from '../support/peers.ts'
import { makeSelfSigned } from '../support/self-signed.ts'

/** OpenAI's own clients test the scripted server: what they accept is the protocol. */

const question = 'What is this about?'
const farewell = 'Thank you for calling. Goodbye.'
const vocabulary = [question, farewell]
const synthesizer = createSynthesizer()
const speechOf = (text: string): Int16Array => synthesizer.synthesize(text, 'kal').samples

/** The speech with silence after it, in messages of 40 ms. */
const framesOf = (text: string): string[] => {
  const speech = encodeG711('pcmu', speechOf(text))
  const sound = Buffer.concat([
    g711Silence('pcmu', 20 * g711FrameBytes),
    speech,
    g711Silence('pcmu', 50 * g711FrameBytes),
  ])
  const step = 2 * g711FrameBytes
  return Array.from({ length: Math.floor(sound.length / step) }, (_, index) =>
    sound.subarray(index * step, (index + 1) * step).toString('base64'),
  )
}

const reason = missingPeer('openssl')
const needsTls = reason === undefined ? {} : { skip: reason }

describe("OpenAI's Realtime client, over TLS", needsTls, () => {
  let server: ScriptedRealtimeServer
  let ca: string
  before(async () => {
    const tls = makeSelfSigned()
    ca = tls.cert
    server = new ScriptedRealtimeServer({ vocabulary, tls, logger: silentLogger })
    await server.start()
  })
  after(() => server.stop())

  const connect = async () => {
    const client = new OpenAI({ apiKey: 'k', baseURL: server.httpUrl })
    const realtime = new OpenAIRealtimeWS({ model: 'scripted', options: { ca } }, client)
    const seen: RealtimeServerEvent[] = []
    const errors: unknown[] = []
    let wake = (): void => {}
    realtime.on('event', (event) => {
      seen.push(event)
      wake()
    })
    realtime.on('error', (error) => errors.push(error))
    const until = async <T extends RealtimeServerEvent['type']>(
      type: T,
      count = 1,
    ): Promise<Extract<RealtimeServerEvent, { type: T }>> => {
      for (;;) {
        const found = seen.filter((event) => event.type === type)
        if (found.length >= count)
          return found[count - 1] as Extract<RealtimeServerEvent, { type: T }>
        await new Promise<void>((resolve) => (wake = resolve))
      }
    }
    await once(realtime.socket, 'open')
    return { realtime, seen, errors, until }
  }

  it('holds a conversation: it hears a greeting, asks, gets a reply, and receives a tool call', async () => {
    const { realtime, errors, until } = await connect()
    const format = { type: 'audio/pcmu' } as const
    realtime.send({
      type: 'session.update',
      session: {
        type: 'realtime',
        instructions: 'Purpose: to confirm your appointment.',
        output_modalities: ['audio'],
        audio: { input: { format }, output: { format, voice: 'slt' } },
        tools: [{ type: 'function', name: 'end_call', description: 'Hangs up.', parameters: {} }],
      },
    })
    await until('session.updated')
    realtime.send({
      type: 'response.create',
      response: { instructions: verbatimInstructions('Hello, this is Ann.') },
    })
    const greeted = await until('response.output_audio_transcript.done')
    assert.equal(greeted.transcript, 'Hello, this is Ann.')
    assert.ok(Buffer.from((await until('response.output_audio.delta')).delta, 'base64').length > 0)
    await until('response.done')

    for (const audio of framesOf(question)) {
      realtime.send({ type: 'input_audio_buffer.append', audio })
    }
    const started = await until('input_audio_buffer.speech_started')
    const heard = await until('conversation.item.input_audio_transcription.completed')
    assert.deepEqual([heard.transcript, heard.item_id], [question, started.item_id])
    const answered = await until('response.output_audio_transcript.done', 2)
    assert.equal(answered.transcript, 'I am calling to confirm your appointment.')
    realtime.send({
      type: 'conversation.item.truncate',
      item_id: answered.item_id,
      content_index: 0,
      audio_end_ms: 100,
    })
    assert.equal((await until('conversation.item.truncated')).audio_end_ms, 100)
    await until('response.done', 2)

    for (const audio of framesOf(farewell)) {
      realtime.send({ type: 'input_audio_buffer.append', audio })
    }
    const called = await until('response.function_call_arguments.done')
    assert.equal(called.name, 'end_call')
    const { response } = await until('response.done', 3)
    assert.equal(response.status, 'completed')
    assert.ok((response.usage?.output_tokens ?? 0) > 0)
    assert.deepEqual(errors, [])
    realtime.close()
  })

  it('receives an error in the expected form', async () => {
    const { realtime, errors, until } = await connect()
    realtime.send({ type: 'response.create' })
    const { error } = await until('error')
    assert.equal(error.code, 'invalid_event')
    assert.equal(errors.length, 1)
    realtime.close()
  })

  it('uses the same server that our own engine holds a conversation with', async () => {
    const engine = createRealtimeEngine({ url: server.url, ca, logger: silentLogger })
    const options = {
      callId: 'c',
      codec: 'pcmu',
      instructions: 'x',
      greeting: 'Hi there.',
      language: 'en',
      tools: [],
    } as const
    const session = await engine.open(options, AbortSignal.timeout(10_000))
    for await (const event of session.events) {
      if (event.type !== 'agent_text') continue
      assert.equal(event.text, 'Hi there.')
      break
    }
    await session.close()
    const untrusted = createRealtimeEngine({ url: server.url, logger: silentLogger })
    await assert.rejects(untrusted.open(options, AbortSignal.timeout(10_000)), {
      code: 'connection_error',
    })
  })
})

describe("OpenAI's clients, plainly", () => {
  const server = new ScriptedRealtimeServer({ vocabulary, logger: silentLogger })
  before(() => server.start())
  after(() => server.stop())
  const client = () => new OpenAI({ apiKey: 'k', baseURL: server.httpUrl, maxRetries: 0 })

  it('hold a conversation as an agent with a tool', async () => {
    const ended = Promise.withResolvers<unknown>()
    const agent = new RealtimeAgent({
      name: 'Ann',
      instructions: 'Purpose: to confirm your appointment.',
      tools: [
        tool({
          name: 'end_call',
          description: 'Hangs up.',
          parameters: z.object({ outcome: z.string() }),
          execute: (toolArguments) => {
            ended.resolve(toolArguments)
            return 'ended'
          },
        }),
      ],
    })
    const session = new RealtimeSession(agent, {
      transport: 'websocket',
      model: 'scripted',
      config: {
        outputModalities: ['audio'],
        audio: {
          input: { format: { type: 'audio/pcmu' } },
          output: { format: { type: 'audio/pcmu' }, voice: 'slt' },
        },
      },
    })
    const errors: unknown[] = []
    const counts = new Map<string, number>()
    let wake = (): void => {}
    session.on('error', (error) => errors.push(error))
    session.on('transport_event', ({ type }) => {
      counts.set(type, (counts.get(type) ?? 0) + 1)
      wake()
    })
    const until = async (type: string, count: number): Promise<void> => {
      while ((counts.get(type) ?? 0) < count) await new Promise<void>((resolve) => (wake = resolve))
    }
    // In step with what the client hears, as a person would be: speech during a burst would count as an
    // interruption.
    const speak = async (text: string, count: number): Promise<void> => {
      const sound = framesOf(text)
      const send = (audio: string): void =>
        session.sendAudio(Uint8Array.from(Buffer.from(audio, 'base64')).buffer)
      sound.slice(0, -25).forEach(send)
      await until('input_audio_buffer.speech_started', count)
      sound.slice(-25).forEach(send)
    }
    await session.connect({ apiKey: 'k', url: server.url })
    await speak(question, 1)
    await until('response.done', 1)
    await speak(farewell, 2)
    assert.deepEqual(await ended.promise, { outcome: 'inconclusive' })
    const words = JSON.stringify(session.history)
    assert.match(words, /What is this about/)
    assert.match(words, /I am calling to confirm your appointment/)
    assert.deepEqual(errors, [])
    session.close()
  })

  it('transcribe speech, plainly and in detail', async () => {
    const wav = writeWav(resample(speechOf(question), 8_000, 16_000), 16_000)
    const file = () => toFile(wav, 'speech.wav', { type: 'audio/wav' })
    const { transcriptions } = client().audio
    const plain = await transcriptions.create({ file: await file(), model: 'scripted' })
    assert.equal(plain.text, question)
    const detailed = await transcriptions.create({
      file: await file(),
      model: 'scripted',
      response_format: 'verbose_json',
    })
    assert.equal(detailed.text, question)
    assert.ok((detailed.segments?.[0]?.no_speech_prob ?? 1) < 0.5)
    await assert.rejects(
      transcriptions.create({
        file: await toFile(Buffer.from('noise'), 'a.wav'),
        model: 'scripted',
      }),
      { status: 400 },
    )
  })

  it('synthesize text', async () => {
    const speech = client().audio.speech
    const base = { model: 'scripted', voice: 'slt', input: 'Good morning.' } as const
    const pcm = Buffer.from(
      await (await speech.create({ ...base, response_format: 'pcm' })).arrayBuffer(),
    )
    // Between half a second and three, at 24 kHz.
    assert.ok(pcm.length > 24_000 && pcm.length < 144_000, String(pcm.length))
    const wav = await speech.create({ ...base, response_format: 'wav' })
    assert.equal(
      Buffer.from(await wav.arrayBuffer())
        .subarray(0, 4)
        .toString(),
      'RIFF',
    )
  })

  it('chat, whole and streamed, with tools', async () => {
    const { completions } = client().chat
    const endCall = { type: 'function', function: { name: 'end_call', parameters: {} } } as const
    const request = {
      model: 'scripted',
      tools: [endCall],
      messages: [
        { role: 'system', content: 'Purpose: to confirm your appointment.' },
        { role: 'assistant', content: 'Hello.' },
        { role: 'user', content: question },
      ],
    } satisfies OpenAI.ChatCompletionCreateParams
    const whole = await completions.create(request)
    const text = 'I am calling to confirm your appointment.'
    assert.equal(whole.choices[0]?.message.content, text)
    const runner = completions.stream({
      ...request,
      messages: [
        ...request.messages,
        { role: 'assistant', content: text },
        { role: 'user', content: farewell },
      ],
    })
    const { choices, usage } = await runner.finalChatCompletion()
    assert.equal(choices[0]?.message.content, 'Thank you for your time. Goodbye.')
    const call = choices[0]?.message.tool_calls?.[0]
    assert.ok(call?.type === 'function')
    assert.equal(call.function.name, 'end_call')
    assert.equal(choices[0]?.finish_reason, 'tool_calls')
    assert.ok((usage?.total_tokens ?? 0) > 0)
    const { data: models } = await client().models.list()
    assert.deepEqual(
      models.map(({ id }) => id),
      ['scripted'],
    )
  })

  it('get errors for missing resources in the expected form', async () => {
    await assert.rejects(client().images.generate({ prompt: 'x' }), { status: 404 })
    await assert.rejects(client().chat.completions.create({ model: 'm', messages: [] }), {
      status: 400,
    })
  })

  it('get nothing through a bare socket from another path', async () => {
    const socket = new WebSocket(server.url.replace('/v1/realtime', '/else'))
    const [error] = (await once(socket, 'error')) as [Error]
    assert.match(error.message, /400/)
  })
})
