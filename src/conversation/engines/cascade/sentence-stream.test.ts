import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fc } from '../../../../tests/support/properties.ts'
import { createSentenceStream } from './sentence-stream.ts'

const cut = (...pieces: string[]): string[] => {
  const stream = createSentenceStream()
  return [...pieces.flatMap((piece) => stream.push(piece)), ...stream.end()]
}

describe('the stream of sentences', () => {
  it('delivers a sentence as soon as it is complete', () => {
    const stream = createSentenceStream()
    assert.deepEqual(stream.push('Good morning to you. How'), ['Good morning to you.'])
    assert.deepEqual(stream.push(' are you today?'), [])
    assert.deepEqual(stream.end(), ['How are you today?'])
  })

  it('does not end a sentence within a number, nor on a single word', () => {
    assert.deepEqual(cut('That is 3', '.', '5 percent. ', 'Yes. It is.'), [
      'That is 3.5 percent.',
      'Yes. It is.',
    ])
  })

  it('needs no space after a Chinese or Japanese sentence', () => {
    const stream = createSentenceStream()
    assert.deepEqual(stream.push('您好，这里是河边牙科诊所。请问您现在'), [
      '您好，这里是河边牙科诊所。',
    ])
    assert.deepEqual(stream.push('方便说话吗？'), [])
    assert.deepEqual(stream.end(), ['请问您现在方便说话吗？'])
  })

  it('speaks a first clause that is long enough before its sentence is complete', () => {
    const [first] = cut('I have looked into your order of last Monday, ', 'and it is on its way.')
    assert.equal(first, 'I have looked into your order of last Monday,')
  })

  it('does not wait forever for the end of a sentence', () => {
    const parts = cut('word '.repeat(200))
    assert.ok(parts.length > 2 && parts.every((part) => part.length <= 300))
  })

  it('loses no word, however the text is split', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 40 }), { maxLength: 30 }), (pieces) => {
        const words = (text: string): string => text.replace(/\s+/gu, '')
        assert.equal(words(cut(...pieces).join('')), words(pieces.join('')))
      }),
    )
  })
})
