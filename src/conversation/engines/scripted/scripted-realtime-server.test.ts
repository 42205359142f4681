import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { createSynthesizer } from '../../../audio/flite.ts'
import { encodeG711 } from '../../../audio/g711.ts'
import { silentLogger } from '../../../runtime/logger.ts'
import { describeVoiceEngine } from '../../../../tests/support/conversation/engine-conformance.ts'
import { verbatimInstructions } from '../realtime/protocol.ts'
import { createRealtimeEngine } from '../realtime/realtime-engine.ts'
import { g711Wire, pcmWire } from '../realtime/wire-audio.ts'
import { ScriptedRealtimeServer } from './scripted-realtime-server.ts'

const farewellText = 'Thank you for calling. Goodbye.'
const vocabulary = ['Hello?', farewellText, 'Please never call me again.']
const server = new ScriptedRealtimeServer({ vocabulary, logger: silentLogger })
const farewell = createSynthesizer().synthesize(farewellText, 'kal').samples

before(() => server.start())
after(() => server.stop())

for (const wireFormat of [g711Wire, pcmWire(24_000, 24_000)]) {
  describeVoiceEngine(`realtime (${wireFormat.kind}) against the scripted server`, {
    engine: () => createRealtimeEngine({ url: server.url, wireFormat, logger: silentLogger }),
    farewell: (codec) => encodeG711(codec, farewell),
    farewellText,
  })
}

type Event = Record<string, unknown> & { type: string; error?: { code: string; event_id: string } }

/** A bare client, which may also send wrong messages. */
const connect = async () => {
  const socket = new WebSocket(server.url)
  const received: Event[] = []
  let wake = (): void => {}
  socket.on('message', (data: Buffer) => {
    received.push(JSON.parse(data.toString('utf8')) as Event)
    wake()
  })
  await once(socket, 'open')
  const next = async (type: string): Promise<Event> => {
    for (;;) {
      const index = received.findIndex((event) => event.type === type)
      const [event] = index < 0 ? [] : received.splice(0, index + 1).slice(-1)
      if (event) return event
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  const send = (event: object): void => socket.send(JSON.stringify(event))
  const format = { type: 'audio/pcmu' }
  send({
    type: 'session.update',
    session: { type: 'realtime', audio: { input: { format }, output: { format } } },
  })
  await next('session.updated')
  return { socket, send, next }
}

const speech = (text: string, eventId: string) => ({
  type: 'response.create',
  event_id: eventId,
  response: { instructions: verbatimInstructions(text) },
})

const longText = 'This is a rather long sentence, so that it cannot be over at once.'

describe('the scripted server is as strict as a real one', () => {
  it('refuses a second response while one is active', async () => {
    const client = await connect()
    client.send(speech(longText, 'first'))
    client.send(speech('No.', 'second'))
    const { error } = await client.next('error')
    assert.equal(error?.code, 'conversation_already_has_active_response')
    assert.equal(error?.event_id, 'second')
    client.socket.close()
  })

  it('refuses to truncate beyond the audio it sent, and to cancel when no response is active', async () => {
    const client = await connect()
    client.send(speech('Yes.', 'first'))
    const item = (await client.next('response.output_audio.delta')).item_id
    await client.next('response.done')
    const truncate = { type: 'conversation.item.truncate', item_id: item, content_index: 0 }
    client.send({ ...truncate, audio_end_ms: 60_000 })
    assert.equal((await client.next('error')).error?.code, 'invalid_value')
    client.send({ ...truncate, audio_end_ms: 100 })
    await client.next('conversation.item.truncated')
    client.send({ type: 'response.cancel' })
    assert.equal((await client.next('error')).error?.code, 'response_cancel_not_active')
    client.socket.close()
  })

  it('stops in the middle when cancelled', async () => {
    const client = await connect()
    client.send(speech(longText, 'first'))
    await client.next('response.output_audio.delta')
    client.send({ type: 'response.cancel' })
    const done = await client.next('response.done')
    assert.equal((done.response as { status: string }).status, 'cancelled')
    client.socket.close()
  })

  it('returns an error for nonsense and keeps running', async () => {
    const client = await connect()
    client.socket.send('not json')
    assert.equal((await client.next('error')).error?.code, 'invalid_json')
    client.send({ type: 'dance' })
    assert.equal((await client.next('error')).error?.code, 'invalid_event')
    client.send({
      type: 'conversation.item.create',
      item: { type: 'function_call_output', call_id: 'x' },
    })
    assert.equal((await client.next('error')).error?.code, 'invalid_tool_call_id')
    client.send(speech('Yes.', 'first'))
    await client.next('response.done')
    client.socket.close()
  })
})

describe('the scripted server', () => {
  it('starts once, and ends its thread when stopped', async () => {
    const other = new ScriptedRealtimeServer({ vocabulary: [], logger: silentLogger })
    assert.throws(() => other.url, /not been started/)
    await Promise.all([other.start(), other.start()])
    const { url } = other
    await other.stop()
    await other.stop()
    const socket = new WebSocket(url)
    const [error] = (await once(socket, 'error')) as [Error]
    assert.match(error.message, /ECONNREFUSED/)
  })
})
