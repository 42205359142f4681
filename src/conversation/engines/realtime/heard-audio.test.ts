import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHeardAudio } from './heard-audio.ts'
import { readAppendedAudio } from './protocol.ts'
import { createWireAudio, g711Wire } from './wire-audio.ts'

const silentByte = 0xff
const loudByte = 0x10

/** How many frames each message contains for this speech: `#` is a loud frame, `.` a quiet one. */
const framesPerMessage = (said: string): number[] => {
  const messages: Buffer[] = []
  const audio = createHeardAudio('pcmu', createWireAudio(g711Wire, 'pcmu'), (message) =>
    messages.push(message),
  )
  const frames = Array.from(said, (mark) => Buffer.alloc(160, mark === '#' ? loudByte : silentByte))
  for (const frame of frames) audio.hear(frame)
  const sent = messages.map((message) =>
    Buffer.from(readAppendedAudio(message.toString()) ?? '', 'base64'),
  )
  const whole = Buffer.concat(sent)
  assert.deepEqual(whole, Buffer.concat(frames).subarray(0, whole.length))
  return sent.map(({ length }) => length / 160)
}

describe('the callee’s audio goes to the server', () => {
  it('every 40 ms while the server may be about to find the end of the speech', () => {
    assert.deepEqual(framesPerMessage('.'.repeat(8)), [2, 2, 2, 2])
    assert.deepEqual(framesPerMessage(`####${'.'.repeat(5)}`), [5, 2, 2])
    assert.deepEqual(framesPerMessage('#.#.#.#.'), [2, 2, 2, 2])
  })

  it('every 100 ms in the middle of speech and of long silence', () => {
    assert.deepEqual(framesPerMessage('#'.repeat(15)), [5, 5, 5])
    assert.deepEqual(framesPerMessage('.'.repeat(58)).slice(-5), [2, 5, 5, 5, 5])
  })

  it('at once when speech begins after a long silence, with the frames before it', () => {
    assert.deepEqual(framesPerMessage(`${'.'.repeat(51)}#`).slice(-2), [5, 4])
    assert.deepEqual(framesPerMessage(`${'.'.repeat(48)}#`).slice(-2), [5, 1])
  })
})
