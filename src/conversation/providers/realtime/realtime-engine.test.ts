import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { WebSocketServer, type WebSocket } from 'ws'
import { g711Silence } from '../../../audio/g711.ts'
import { silentLogger } from '../../../runtime/logger.ts'
import { EngineOpenError, type VoiceEvent, type VoiceSession } from '../../voice-engine.ts'
import { createRealtimeEngine } from './realtime-engine.ts'

/** A server that does what the test tells it, and nothing else. */
let server: WebSocketServer
let socket: WebSocket
let headers: Record<string, unknown>
let path: string
let received: Record<string, unknown>[]
let onSessionUpdate: () => void
let wake: () => void

beforeEach(async () => {
  received = []
  wake = () => {}
  onSessionUpdate = () => tell({ type: 'session.updated', session: {} })
  server = new WebSocketServer({ host: '127.0.0.1', port: 0, autoPong: false })
  server.on('connection', (connected, request) => {
    socket = connected
    headers = request.headers
    path = request.url ?? ''
    socket.on('message', (data: Buffer) => {
      const event = JSON.parse(data.toString('utf8')) as Record<string, unknown>
      received.push(event)
      if (event.type === 'session.update') onSessionUpdate()
      wake()
    })
  })
  await once(server, 'listening')
})

afterEach(() => {
  mock.timers.reset()
  for (const client of server.clients) client.terminate()
  server.close()
})

const tell = (event: object): void => socket.send(JSON.stringify(event))

const url = (): string => `ws://127.0.0.1:${(server.address() as AddressInfo).port}/v1/realtime`

const open = (
  settings: { key?: string; model?: string } = {},
  greeting = '',
): Promise<VoiceSession> =>
  createRealtimeEngine({ url: url(), logger: silentLogger, ...settings }).open(
    {
      callId: 'c1',
      codec: 'pcma',
      instructions: 'Be kind.',
      greeting,
      language: 'de-DE',
      voice: 'marin',
      tools: [{ name: 'opt_out', description: 'Bars.', parameters: { type: 'object' } }],
    },
    AbortSignal.timeout(5_000),
  )

const receivedOf = async (type: string): Promise<Record<string, unknown>> => {
  for (;;) {
    const event = received.find((candidate) => candidate.type === type)
    if (event) return event
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
}

const next = async (session: VoiceSession): Promise<VoiceEvent | undefined> => {
  const result = await session.events[Symbol.asyncIterator]().next()
  return result.done ? undefined : result.value
}

const delta = (itemId: string, bytes: number) => ({
  type: 'response.output_audio.delta',
  response_id: 'r1',
  item_id: itemId,
  delta: Buffer.alloc(bytes, 7).toString('base64'),
})

describe('opening a realtime session', () => {
  it('sends key, model, formats, voice, tools and leaves interrupting to us', async () => {
    const session = await open({ key: 'sk-1', model: 'gpt-realtime' })
    assert.equal(headers.authorization, 'Bearer sk-1')
    assert.equal(headers['api-key'], undefined)
    assert.equal(path, '/v1/realtime?model=gpt-realtime')
    const { session: sent } = (await receivedOf('session.update')) as {
      session: {
        instructions: string
        audio: {
          input: { format: object; transcription: { language: string }; turn_detection: object }
          output: object
        }
        tools: object[]
      }
    }
    assert.match(sent.instructions, /^Be kind\./)
    assert.deepEqual(sent.audio.input.format, { type: 'audio/pcma' })
    assert.equal(sent.audio.input.transcription.language, 'de')
    assert.deepEqual(sent.audio.input.turn_detection, {
      type: 'server_vad',
      silence_duration_ms: 500,
      create_response: true,
      interrupt_response: false,
    })
    assert.deepEqual(sent.audio.output, { format: { type: 'audio/pcma' }, voice: 'marin' })
    assert.deepEqual(sent.tools, [
      { type: 'function', name: 'opt_out', description: 'Bars.', parameters: { type: 'object' } },
    ])
    await session.close()
  })

  it('fails with the code of the server', async () => {
    onSessionUpdate = () =>
      tell({ type: 'error', error: { code: 'invalid_api_key', message: 'No.' } })
    await assert.rejects(
      open(),
      (error) => error instanceof EngineOpenError && error.code === 'invalid_api_key',
    )
  })

  it('fails when the server hangs up, or is not there', async () => {
    onSessionUpdate = () => socket.close(1001)
    await assert.rejects(open(), { code: 'connection_closed' })
    const closed = url()
    server.close()
    for (const client of server.clients) client.terminate()
    const engine = createRealtimeEngine({ url: closed, logger: silentLogger })
    await assert.rejects(
      engine.open(
        { callId: 'c', codec: 'pcmu', instructions: '', greeting: '', language: 'en', tools: [] },
        AbortSignal.timeout(5_000),
      ),
      { code: 'connection_error' },
    )
  })

  it('gives up when told to, and lives on when told to after it is open', async () => {
    onSessionUpdate = () => {}
    const abort = new AbortController()
    const options = {
      callId: 'c',
      codec: 'pcmu',
      instructions: '',
      greeting: '',
      language: 'en',
      tools: [],
    } as const
    const engine = createRealtimeEngine({ url: url(), logger: silentLogger })
    const opening = engine.open(options, abort.signal)
    await once(server, 'connection')
    abort.abort(new Error('the phone was not answered'))
    await assert.rejects(opening, /not answered/)

    onSessionUpdate = () => tell({ type: 'session.updated' })
    const later = new AbortController()
    const session = await engine.open(options, later.signal)
    later.abort()
    tell(delta('i1', 160))
    assert.equal((await next(session))?.type, 'audio')
    await session.close()
  })
})

describe('a realtime session', () => {
  it('sends two frames to a message', async () => {
    const session = await open()
    session.hear(g711Silence('pcma'))
    session.hear(g711Silence('pcma'))
    const { audio } = await receivedOf('input_audio_buffer.append')
    assert.deepEqual(Buffer.from(audio as string, 'base64'), Buffer.alloc(320, 0xd5))
    await session.close()
  })

  it('hands on whole frames whatever the server sends, the last one filled with silence', async () => {
    const session = await open()
    for (const bytes of [100, 100, 333]) tell(delta('i1', bytes))
    tell({ type: 'response.output_audio.done', item_id: 'i1' })
    const lengths: number[] = []
    let last: VoiceEvent | undefined
    for (let event = await next(session); event?.type === 'audio'; event = await next(session)) {
      lengths.push(event.g711.length)
      last = event
    }
    assert.deepEqual(lengths, [160, 320, 160])
    assert.ok(last?.type === 'audio')
    assert.deepEqual([...last.g711.subarray(50, 56)], [7, 7, 7, 0xd5, 0xd5, 0xd5])
    await session.close()
  })

  it('never truncates beyond what was produced of that very item', async () => {
    const session = await open()
    tell({ type: 'response.created', response: { id: 'r1' } })
    tell(delta('i1', 805))
    tell(delta('i2', 1_600))
    await next(session)
    await next(session)
    session.interrupt('i1', 120)
    session.interrupt('i1', 120)
    session.interrupt('unknown', 120)
    assert.deepEqual(await receivedOf('conversation.item.truncate'), {
      type: 'conversation.item.truncate',
      item_id: 'i1',
      content_index: 0,
      audio_end_ms: 100,
    })
    assert.deepEqual(await receivedOf('response.cancel'), {
      type: 'response.cancel',
      response_id: 'r1',
    })
    assert.equal(received.filter(({ type }) => type === 'conversation.item.truncate').length, 1)
    tell(delta('i3', 160))
    tell({ type: 'error', error: { code: 'response_cancel_not_active', message: 'x' } })
    assert.deepEqual(await next(session), {
      type: 'error',
      fatal: false,
      code: 'response_cancel_not_active',
      message: 'x',
    })
    await session.close()
  })

  it('lets the model go on once, when every tool has answered', async () => {
    const session = await open()
    tell({ type: 'response.created', response: { id: 'r1' } })
    for (const id of ['a', 'b']) {
      const item = { type: 'function_call', call_id: id, name: 'look_up', arguments: '{"x":1}' }
      tell({ type: 'response.output_item.done', item })
    }
    tell({
      type: 'response.done',
      response: { id: 'r1', usage: { input_tokens: 5, output_tokens: 7 } },
    })
    assert.deepEqual(await next(session), {
      type: 'tool_call',
      id: 'a',
      name: 'look_up',
      arguments: { x: 1 },
    })
    await next(session)
    session.toolResult('a', { found: true })
    session.toolResult('b', null, false)
    await receivedOf('response.create')
    const items = received.filter(({ type }) => type === 'conversation.item.create')
    assert.deepEqual(
      items.map(({ item }) => item),
      [
        { type: 'function_call_output', call_id: 'a', output: '{"found":true}' },
        { type: 'function_call_output', call_id: 'b', output: 'null' },
      ],
    )
    assert.equal(received.filter(({ type }) => type === 'response.create').length, 1)
    const usage = await session.close()
    assert.equal(usage.inputTokens, 5)
    assert.equal(usage.outputTokens, 7)
  })

  it('asks for the answer itself when the callee finished while a response was in flight', async () => {
    const session = await open()
    tell({ type: 'response.created', response: { id: 'r1' } })
    tell({ type: 'input_audio_buffer.speech_started', item_id: 's1', audio_start_ms: 10 })
    tell({ type: 'input_audio_buffer.speech_stopped', item_id: 's1', audio_end_ms: 900 })
    tell({ type: 'response.done', response: { id: 'r1' } })
    assert.equal((await receivedOf('response.create')).response, undefined)
    await session.close()
  })

  it('ends with a fatal error when the server goes away, expires the session, or fails', async () => {
    for (const [breaks, code] of [
      [() => socket.close(1001), 'connection_closed'],
      [
        () => tell({ type: 'error', error: { code: 'session_expired', message: '' } }),
        'session_expired',
      ],
      [
        () =>
          tell({
            type: 'response.done',
            response: {
              id: 'r',
              status: 'failed',
              status_details: { error: { code: 'insufficient_quota' } },
            },
          }),
        'insufficient_quota',
      ],
    ] as const) {
      const session = await open()
      breaks()
      const event = await next(session)
      assert.ok(event?.type === 'error' && event.fatal)
      assert.equal(event.code, code)
      assert.equal(await next(session), undefined)
      await session.close()
    }
  })

  it('finds out by ping that a connection is half open', async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    const session = await open()
    mock.timers.tick(10_000)
    mock.timers.tick(10_000)
    const event = await next(session)
    assert.ok(event?.type === 'error' && event.fatal)
    assert.equal(event.code, 'connection_lost')
    await session.close()
  })

  it('closes within two seconds even if the server does not answer', async () => {
    const session = await open()
    socket.pause()
    const startedAt = performance.now()
    await session.close()
    assert.ok(performance.now() - startedAt < 2_000)
  })

  it('does not let events pile up without end', async () => {
    const session = await open()
    for (let count = 0; count < 4_100; count += 1) tell(delta('i1', 160))
    await once(socket, 'close')
    let events = 0
    for (let event = await next(session); event; event = await next(session)) events += 1
    assert.equal(events, 4_000)
    await session.close()
  })
})
