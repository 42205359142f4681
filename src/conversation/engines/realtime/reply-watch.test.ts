import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import {
  next,
  useControlledServer,
} from '../../../../tests/support/conversation/controlled-server.ts'

const server = useControlledServer()
const { open, receivedAtLeast, tell } = server

describe('a reply', () => {
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
  const asked = (count: number) => receivedAtLeast(count, 'response.create')

  it('that fails is requested again, and the session is given up when it fails each time', async () => {
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
    assert.equal(server.connections, 1)
    for (const event of await asked(3)) assert.match(JSON.stringify(event), /Hello/)
    await session.close()
  })

  it('that the server omits is requested, but not after a noise', async () => {
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
    assert.equal(server.received.filter(({ type }) => type === 'response.create').length, 0)
    await speaks('Are you there?')
    assert.equal((await asked(1)).length, 1)
    mock.timers.reset()
    await session.close()
  })
})
