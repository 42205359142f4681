import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { silentLogger } from '../../../runtime/logger.ts'
import { EngineOpenError } from '../../engine/voice-engine.ts'
import { createRealtimeEngine } from './realtime-engine.ts'
import {
  delta,
  next,
  useControlledServer,
} from '../../../../tests/support/conversation/controlled-server.ts'

const server = useControlledServer()
const { open, receivedOf, tell, url } = server

describe('opening a realtime session', () => {
  it('sends key, model, formats, voice and tools, and leaves interruptions to us', async () => {
    const session = await open({ key: 'sk-1', model: 'gpt-realtime' })
    assert.equal(server.headers.authorization, 'Bearer sk-1')
    assert.equal(server.headers['api-key'], undefined)
    assert.equal(server.path, '/v1/realtime?model=gpt-realtime')
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

  it('fails with the server’s code', async () => {
    server.onSessionUpdate(() =>
      tell({ type: 'error', error: { code: 'invalid_api_key', message: 'No.' } }),
    )
    await assert.rejects(
      open(),
      (error) => error instanceof EngineOpenError && error.code === 'invalid_api_key',
    )
  })

  it('fails when the server hangs up, or does not exist', async () => {
    server.onSessionUpdate(() => server.socket.close(1001))
    await assert.rejects(open(), { code: 'connection_closed' })
    const closed = url()
    server.listener.close()
    for (const client of server.listener.clients) client.terminate()
    const engine = createRealtimeEngine({ url: closed, logger: silentLogger })
    await assert.rejects(
      engine.open(
        { callId: 'c', codec: 'pcmu', instructions: '', greeting: '', language: 'en', tools: [] },
        new AbortController().signal,
      ),
      { code: 'connection_error' },
    )
  })

  it('gives up when its signal aborts, and ignores the signal once open', async () => {
    server.onSessionUpdate(() => {})
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
    await once(server.listener, 'connection')
    abort.abort(new Error('the phone was not answered'))
    await assert.rejects(opening, /not answered/)

    server.onSessionUpdate(() => tell({ type: 'session.updated' }))
    const later = new AbortController()
    const session = await engine.open(options, later.signal)
    later.abort()
    tell(delta('i1', 160))
    assert.equal((await next(session))?.type, 'audio')
    await session.close()
  })
})
