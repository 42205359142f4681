import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it, mock } from 'node:test'
import { g711Silence } from '../../../audio/g711.ts'
import type { VoiceEvent } from '../../engine/voice-engine.ts'
import {
  delta,
  next,
  useControlledServer,
} from '../../../../tests/support/conversation/controlled-server.ts'

const server = useControlledServer()
const { open, receivedOf, tell } = server

describe('a realtime session', () => {
  it('sends two frames per message', async () => {
    const session = await open()
    session.hear(g711Silence('pcma'))
    session.hear(g711Silence('pcma'))
    const { audio } = await receivedOf('input_audio_buffer.append')
    assert.deepEqual(Buffer.from(audio as string, 'base64'), Buffer.alloc(320, 0xd5))
    await session.close()
  })

  it('passes on whole frames whatever the server sends, the last one padded with silence', async () => {
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

  it('never truncates an item beyond its own audio', async () => {
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
    assert.equal(
      server.received.filter(({ type }) => type === 'conversation.item.truncate').length,
      1,
    )
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

  it('lets the model continue once, when every tool has a result', async () => {
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
    const items = server.received.filter(({ type }) => type === 'conversation.item.create')
    assert.deepEqual(
      items.map(({ item }) => item),
      [
        { type: 'function_call_output', call_id: 'a', output: '{"found":true}' },
        { type: 'function_call_output', call_id: 'b', output: 'null' },
      ],
    )
    assert.equal(server.received.filter(({ type }) => type === 'response.create').length, 1)
    const usage = await session.close()
    assert.equal(usage.inputTokens, 5)
    assert.equal(usage.outputTokens, 7)
  })

  it('is ended by the model only after its whole reply', async () => {
    const session = await open()
    tell({ type: 'response.created', response: { id: 'r1' } })
    const item = { type: 'function_call', call_id: 'a', name: 'end_call', arguments: '{}' }
    tell({ type: 'response.output_item.done', item })
    tell({ ...delta('i1', 160), response_id: 'r1' })
    tell({ type: 'response.output_audio.done', item_id: 'i1' })
    tell({ type: 'response.done', response: { id: 'r1', status: 'completed' } })
    const types = [await next(session), await next(session), await next(session)]
    assert.deepEqual(
      types.map((event) => event?.type),
      ['audio', 'audio_end', 'tool_call'],
    )
    await session.close()
  })

  it('requests the reply itself when the callee finished while a response was in flight', async () => {
    const session = await open()
    tell({ type: 'response.created', response: { id: 'r1' } })
    tell({ type: 'input_audio_buffer.speech_started', item_id: 's1', audio_start_ms: 10 })
    tell({ type: 'input_audio_buffer.speech_stopped', item_id: 's1', audio_end_ms: 900 })
    tell({ type: 'response.done', response: { id: 'r1' } })
    assert.equal((await receivedOf('response.create')).response, undefined)
    await session.close()
  })

  it('ends with a fatal error when reconnecting is pointless', async () => {
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

  it('closes within two seconds even if the server does not respond', async () => {
    const session = await open()
    server.socket.pause()
    mock.timers.enable({ apis: ['setTimeout'] })
    const closing = session.close()
    mock.timers.tick(2_000)
    await closing
  })

  it('keeps the number of queued events bounded', async () => {
    const session = await open()
    for (let count = 0; count < 4_100; count += 1) tell(delta('i1', 160))
    await once(server.socket, 'close')
    let events = 0
    for (let event = await next(session); event; event = await next(session)) events += 1
    assert.equal(events, 4_000)
    await session.close()
  })
})
