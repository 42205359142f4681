import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { WebSocketServer, type WebSocket } from 'ws'
import { g711Silence } from '../../../audio/g711.ts'
import { silentLogger } from '../../../runtime/logger.ts'
import { EngineOpenError, type VoiceEvent, type VoiceSession } from '../../voice-engine.ts'
import { createRealtimeEngine, type RealtimeEngineSettings } from './realtime-engine.ts'

/** A server that does what the test tells it, and nothing else. */
let server: WebSocketServer
let socket: WebSocket
let headers: Record<string, unknown>
let path: string
let received: Record<string, unknown>[]
let connections: number
let onSessionUpdate: () => void
let wake: () => void

beforeEach(async () => {
  received = []
  connections = 0
  wake = () => {}
  onSessionUpdate = () => tell({ type: 'session.updated', session: {} })
  server = new WebSocketServer({ host: '127.0.0.1', port: 0, autoPong: false })
  server.on('connection', (connected, request) => {
    socket = connected
    connections += 1
    tell({ type: 'session.created', session: { type: 'realtime', object: 'realtime.session' } })
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
  settings: Partial<RealtimeEngineSettings> = {},
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
    new AbortController().signal,
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
        new AbortController().signal,
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
    session.interrupt('1.i1', 120)
    session.interrupt('1.i1', 120)
    session.interrupt('1.unknown', 120)
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

  it('ends with a fatal error when no session is to be had any more', async () => {
    for (const event of [
      { type: 'error', error: { code: 'insufficient_quota', message: '' } },
      {
        type: 'response.done',
        response: {
          id: 'r',
          status: 'failed',
          status_details: { error: { code: 'insufficient_quota' } },
        },
      },
    ]) {
      const session = await open()
      tell(event)
      const last = await next(session)
      assert.ok(last?.type === 'error' && last.fatal)
      assert.equal(last.code, 'insufficient_quota')
      assert.equal(await next(session), undefined)
      await session.close()
    }
  })

  it('closes within two seconds even if the server does not answer', async () => {
    const session = await open()
    socket.pause()
    mock.timers.enable({ apis: ['setTimeout'] })
    const closing = session.close()
    mock.timers.tick(2_000)
    await closing
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

const silence = (frames: number): Uint8Array[] =>
  Array.from({ length: frames }, () => g711Silence('pcma'))

/** The next connection's session has taken its settings. */
const nextConnection = async (): Promise<void> => {
  received = []
  await once(server, 'connection')
  await receivedOf('session.update')
}

const itemsReceived = () =>
  received.filter(({ type }) => type === 'conversation.item.create').map(({ item }) => item)

const said = (itemId: string, text: string): void => {
  tell({ type: 'response.created', response: { id: `r-${itemId}` } })
  tell({ ...delta(itemId, 1_600), response_id: `r-${itemId}` })
  tell({
    type: 'response.output_audio_transcript.done',
    response_id: `r-${itemId}`,
    item_id: itemId,
    transcript: text,
  })
  tell({ type: 'response.done', response: { id: `r-${itemId}` } })
}

const heard = (itemId: string, atMs: number, text?: string): void => {
  tell({ type: 'input_audio_buffer.speech_started', item_id: itemId, audio_start_ms: atMs })
  if (text === undefined) return
  tell({ type: 'input_audio_buffer.speech_stopped', item_id: itemId, audio_end_ms: atMs + 500 })
  tell({
    type: 'conversation.item.input_audio_transcription.completed',
    item_id: itemId,
    transcript: text,
  })
}

const untilEvent = async (session: VoiceSession, type: VoiceEvent['type']): Promise<VoiceEvent> => {
  for (;;) {
    const event = await next(session)
    assert.ok(event, `no ${type} came`)
    if (event.type === type) return event
  }
}

describe('a session that the server ends', () => {
  const breaks: readonly [string, () => void][] = [
    ['goes away', () => socket.close(1001)],
    ['is cut off', () => socket.terminate()],
    [
      'expires',
      () => tell({ type: 'error', error: { code: 'session_expired', message: 'Too long.' } }),
    ],
  ]
  for (const [how, breakOff] of breaks) {
    it(`is followed by another that knows what was said, when it ${how}`, async () => {
      const session = await open()
      said('i1', 'Good morning to you.')
      heard('s1', 100, 'Who is this?')
      await untilEvent(session, 'contact_text')
      const connected = nextConnection()
      breakOff()
      await connected
      assert.deepEqual((await receivedOf('response.create')).response, undefined)
      assert.deepEqual(itemsReceived(), [
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Good morning to you.' }],
        },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Who is this?' }] },
      ])
      said('i1', 'It is Ann.')
      const audio = await untilEvent(session, 'audio')
      assert.ok(audio.type === 'audio' && audio.utteranceId === '2.i1')
      await session.close()
    })
  }

  it('hands on its words as far as they were spoken, and has them said again', async () => {
    const session = await open()
    tell({ type: 'response.created', response: { id: 'r1' } })
    tell(delta('i1', 8_000))
    tell({
      type: 'response.output_audio_transcript.delta',
      response_id: 'r1',
      item_id: 'i1',
      delta: 'A sentence that is much longer than its sound can be by now.',
    })
    await untilEvent(session, 'audio')
    const connected = nextConnection()
    socket.terminate()
    await untilEvent(session, 'audio_end')
    const text = await untilEvent(session, 'agent_text')
    assert.ok(text.type === 'agent_text')
    assert.equal(text.text, 'A sentence that is…')
    await connected
    await receivedOf('response.create')
    const [, note] = itemsReceived() as { role: string; content: { text: string }[] }[]
    assert.equal(note?.role, 'system')
    assert.match(note?.content[0]?.text ?? '', /broke off/)
    await session.close()
  })

  it('lets the next one say what it did not, and hear what it had no words for', async () => {
    const session = await open({}, 'Hello there.')
    const [frame] = silence(1)
    assert.ok(frame)
    for (let count = 0; count < 50; count += 1) session.hear(frame)
    heard('s1', 400)
    await untilEvent(session, 'speech_start')
    const connected = nextConnection()
    socket.terminate()
    assert.equal((await untilEvent(session, 'speech_stop')).type, 'speech_stop')
    session.say('Are you there?')
    await connected
    const asked = await receivedOf('response.create')
    assert.match(JSON.stringify(asked.response), /Hello there/)
    await receivedOf('input_audio_buffer.append')
    // From 300 ms before the speech that had begun at 400 ms.
    heard('s1', 340)
    heard('s1', 340, 'Yes?')
    const words = await untilEvent(session, 'contact_text')
    assert.ok(words.type === 'contact_text' && words.startMs === 400)
    await session.close()
  })

  it('answers a tool that the lost session had called', async () => {
    const session = await open()
    const item = { type: 'function_call', call_id: 'c1', name: 'look_up', arguments: '{"x":1}' }
    tell({ type: 'response.output_item.done', item })
    await untilEvent(session, 'tool_call')
    const connected = nextConnection()
    socket.close(1001)
    await connected
    session.say('One moment.')
    await receivedOf('response.create')
    session.toolResult('c1', { found: 7 })
    while (itemsReceived().length < 2) await once(socket, 'message')
    assert.deepEqual(itemsReceived(), [
      item,
      { type: 'function_call_output', call_id: 'c1', output: '{"found":7}' },
    ])
    await session.close()
  })

  it('ends with a fatal error when no other can be opened in time', async () => {
    const session = await open({ reconnectLimitMs: 300 })
    server.close()
    socket.terminate()
    const last = await untilEvent(session, 'error')
    assert.ok(last.type === 'error' && last.fatal)
    assert.equal(last.code, 'connection_closed')
    assert.equal(await next(session), undefined)
    await session.close()
  })

  it('is found out by ping to be half open', async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    const session = await open()
    const connected = nextConnection()
    mock.timers.tick(5_000)
    mock.timers.tick(5_000)
    await connected
    assert.equal(connections, 2)
    await session.close()
  })

  it('is given up when it was asked for an answer and gives none', async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    const now = mock.method(performance, 'now')
    const session = await open({}, 'Hello.')
    await receivedOf('response.create')
    const startedAt = performance.now()
    now.mock.mockImplementation(() => startedAt + 13_000)
    const connected = nextConnection()
    mock.timers.tick(5_000)
    await connected
    now.mock.restore()
    assert.match(JSON.stringify(await receivedOf('response.create')), /Hello/)
    await session.close()
  })
})

describe('an answer', () => {
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
  const asked = async (count: number): Promise<Record<string, unknown>[]> => {
    for (;;) {
      const found = received.filter(({ type }) => type === 'response.create')
      if (found.length >= count) return found
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }

  it('that fails is asked for again, and the session is given up when it fails each time', async () => {
    const session = await open({}, 'Hello.')
    await asked(1)
    for (const [index, id] of ['r1', 'r2', 'r3'].entries()) {
      await asked(index + 1)
      tell({ type: 'response.created', response: { id } })
      tell({ type: 'response.done', response: { id, status: 'failed' } })
    }
    const last = await next(session)
    assert.ok(last?.type === 'error' && last.fatal)
    assert.equal(last.code, 'response_failed')
    assert.equal(connections, 1)
    for (const event of await asked(3)) assert.match(JSON.stringify(event), /Hello/)
    await session.close()
  })

  it('that the server forgets is asked for, but not to a noise', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const session = await open()
    const speaks = async (transcript: string): Promise<void> => {
      tell({ type: 'input_audio_buffer.speech_started', item_id: 's', audio_start_ms: 10 })
      tell({ type: 'input_audio_buffer.speech_stopped', item_id: 's', audio_end_ms: 900 })
      const type = 'conversation.item.input_audio_transcription.completed'
      tell({ type, item_id: 's', transcript })
      for (const expected of ['speech_start', 'speech_stop', 'contact_text'])
        assert.equal((await next(session))?.type, expected)
      mock.timers.tick(7_000)
      await settle()
    }
    await speaks('')
    assert.equal(received.filter(({ type }) => type === 'response.create').length, 0)
    await speaks('Are you there?')
    assert.equal((await asked(1)).length, 1)
    mock.timers.reset()
    await session.close()
  })
})

describe('a session that comes near its end', () => {
  it('is replaced at a silent moment by one that was opened before', async () => {
    const session = await open({ sessionCapMs: 1_000 })
    said('i1', 'Good morning.')
    await untilEvent(session, 'agent_text')
    const first = socket
    const connected = nextConnection()
    const [frame] = silence(1)
    assert.ok(frame)
    const feeding = setInterval(() => session.hear(frame), 5)
    await connected
    await once(first, 'close')
    clearInterval(feeding)
    assert.deepEqual(itemsReceived(), [
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Good morning.' }],
      },
    ])
    said('i1', 'Still here.')
    const audio = await untilEvent(session, 'audio')
    assert.ok(audio.type === 'audio' && audio.utteranceId === '2.i1')
    assert.equal(connections, 2)
    await session.close()
  })

  it('is not replaced while the callee is speaking', async () => {
    const session = await open({ sessionCapMs: 1_000 })
    heard('s1', 0)
    await untilEvent(session, 'speech_start')
    const first = socket
    const connected = nextConnection()
    const [frame] = silence(1)
    assert.ok(frame)
    const feeding = setInterval(() => session.hear(frame), 5)
    await connected
    assert.equal(first.readyState, first.OPEN)
    await once(first, 'close')
    clearInterval(feeding)
    // The switch was forced before the end: the next one hears the speech from its beginning.
    const { audio } = await receivedOf('input_audio_buffer.append')
    assert.ok(typeof audio === 'string')
    assert.deepEqual(itemsReceived(), [])
    await session.close()
  })
})
