import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it, mock } from 'node:test'
import { g711Silence } from '../../../audio/g711.ts'
import {
  delta,
  next,
  untilEvent,
  useControlledServer,
} from '../../../../tests/support/conversation/controlled-server.ts'

const server = useControlledServer()
const { heard, itemsReceived, nextConnection, open, receivedOf, said, tell } = server

const frame = g711Silence('pcma')

describe('a session that the server ends', () => {
  const breaks: readonly [string, () => void][] = [
    ['goes away', () => server.socket.close(1001)],
    ['is cut off', () => server.socket.terminate()],
    [
      'expires',
      () => tell({ type: 'error', error: { code: 'session_expired', message: 'Too long.' } }),
    ],
  ]
  for (const [how, breakOff] of breaks) {
    it(`is followed by another that knows the conversation, when it ${how}`, async () => {
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

  it('hands over its words as far as they were spoken, and repeats the rest', async () => {
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
    server.socket.terminate()
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

  it('lets the next one say what it did not, and hear the speech that has no words yet', async () => {
    const session = await open({}, 'Hello there.')
    for (let count = 0; count < 50; count += 1) session.hear(frame)
    heard('s1', 400)
    await untilEvent(session, 'speech_start')
    const connected = nextConnection()
    server.socket.terminate()
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

  it('returns the result of a tool that the lost session had called', async () => {
    const session = await open()
    const item = {
      type: 'function_call',
      call_id: 'call_c1',
      name: 'look_up',
      arguments: '{"x":1}',
    }
    tell({ type: 'response.output_item.done', item })
    await untilEvent(session, 'tool_call')
    const connected = nextConnection()
    server.socket.close(1001)
    await connected
    session.say('One moment.')
    await receivedOf('response.create')
    session.toolResult('call_c1', { found: 7 })
    while (itemsReceived().length < 2) await once(server.socket, 'message')
    assert.deepEqual(itemsReceived(), [
      item,
      { type: 'function_call_output', call_id: 'call_c1', output: '{"found":7}' },
    ])
    await session.close()
  })

  it('ends with a fatal error when no other session can be opened in time', async () => {
    const session = await open({ reconnectLimitMs: 300 })
    server.listener.close()
    server.socket.terminate()
    const last = await untilEvent(session, 'error')
    assert.ok(last.type === 'error' && last.fatal)
    assert.equal(last.code, 'connection_closed')
    assert.equal(await next(session), undefined)
    await session.close()
  })

  it('is recognized as half open by ping', async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    const session = await open()
    const connected = nextConnection()
    mock.timers.tick(5_000)
    mock.timers.tick(5_000)
    await connected
    assert.equal(server.connections, 2)
    await session.close()
  })

  it('is given up when it gives no requested reply', async () => {
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

  it('is the last one when the server replies in none', async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    const now = mock.method(performance, 'now')
    const session = await open({}, 'Hello.')
    await receivedOf('response.create')
    const startedAt = performance.now()
    now.mock.mockImplementation(() => startedAt + 13_000)
    const connected = nextConnection()
    mock.timers.tick(5_000)
    await connected
    await receivedOf('response.create')
    now.mock.mockImplementation(() => startedAt + 26_000)
    mock.timers.tick(5_000)
    const last = await next(session)
    assert.ok(last?.type === 'error' && last.fatal && last.code === 'response_timeout')
    assert.equal(server.connections, 2)
    now.mock.restore()
    await session.close()
  })
})

describe('a session that comes near its end', () => {
  it('is replaced at a silent moment by one opened before', async () => {
    const session = await open({ sessionCapMs: 1_000 })
    said('i1', 'Good morning.')
    await untilEvent(session, 'agent_text')
    const first = server.socket
    const connected = nextConnection()
    const feeding = setInterval(() => session.hear(frame), 5).unref()
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
    assert.equal(server.connections, 2)
    await session.close()
  })

  it('is not replaced while the callee is speaking', async () => {
    const session = await open({ sessionCapMs: 1_000 })
    heard('s1', 0)
    await untilEvent(session, 'speech_start')
    const first = server.socket
    const connected = nextConnection()
    const feeding = setInterval(() => session.hear(frame), 5).unref()
    await connected
    assert.equal(first.readyState, first.OPEN)
    await once(first, 'close')
    clearInterval(feeding)
    // The switch was forced by the end: the next session hears the speech from its beginning.
    const { audio } = await receivedOf('input_audio_buffer.append')
    assert.ok(typeof audio === 'string')
    assert.deepEqual(itemsReceived(), [])
    await session.close()
  })
})
