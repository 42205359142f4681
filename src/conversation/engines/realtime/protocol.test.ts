import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fc } from '../../../../tests/support/properties.ts'
import {
  appendEvent,
  parseServerEvent,
  readAppendedAudio,
  readVerbatim,
  verbatimInstructions,
} from './protocol.ts'

describe('parseServerEvent', () => {
  it('reads what a call needs', () => {
    const event = { type: 'response.output_audio.done', item_id: 'i1', content_index: 0 }
    assert.deepEqual(parseServerEvent(JSON.stringify(event)), event)
  })

  it('maps the names of the beta protocol to the present ones', () => {
    const event = { type: 'response.audio.delta', response_id: 'r', item_id: 'i', delta: '' }
    assert.equal(parseServerEvent(JSON.stringify(event))?.type, 'response.output_audio.delta')
  })

  it('ignores what is unknown, incomplete or not an event', () => {
    for (const text of [
      '{"type":"rate_limits.updated"}',
      '{"type":"response.output_audio.done"}',
      '{"type":"response.done","response":null}',
      '{"type":"error","error":"text"}',
      '{"type":"toString"}',
      '[]',
      'null',
      '{',
      '',
    ]) {
      assert.equal(parseServerEvent(text), undefined, text)
    }
  })

  it('never throws, whatever arrives', () => {
    fc.assert(fc.property(fc.string(), (text) => void parseServerEvent(text)))
    fc.assert(fc.property(fc.json(), (text) => void parseServerEvent(text)))
  })
})

describe('the shortcuts of the protocol', () => {
  it('write audio as JSON that any parser reads, and read it back', () => {
    const text = appendEvent(Buffer.from([0, 1, 2, 3])).toString()
    assert.deepEqual(JSON.parse(text), { type: 'input_audio_buffer.append', audio: 'AAECAw==' })
    assert.equal(readAppendedAudio(text), 'AAECAw==')
    assert.equal(readAppendedAudio('{"type":"response.cancel"}'), undefined)
  })

  it('carry a text to be spoken word for word', () => {
    assert.equal(readVerbatim(verbatimInstructions('Say "hi"\n\nto Sam.')), 'Say "hi"\n\nto Sam.')
    assert.equal(readVerbatim('Be friendly.'), undefined)
  })
})
