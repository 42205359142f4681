import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../tests/support/properties.ts'
import {
  createDigitReceiver,
  createDigitSender,
  digitOfEvent,
  eventOfDigit,
  maxQueuedDigits,
  parseTelephoneEvent,
  serializeTelephoneEvent,
} from './telephone-event.ts'

/** Every packet of these digits as they would arrive. */
const packetsOf = (digits: string): { timestamp: number; payload: Uint8Array }[] => {
  const sender = createDigitSender()
  sender.queue(digits)
  const packets: { timestamp: number; payload: Uint8Array }[] = []
  for (let now = 0xffff_f000; sender.isSending; now += 160) {
    const event = sender.next()
    if (!event) continue
    packets.push({ timestamp: (now - event.samplesSinceStart) >>> 0, payload: event.payload })
  }
  return packets
}

const receive = (packets: readonly { timestamp: number; payload: Uint8Array }[]): string => {
  const receiver = createDigitReceiver()
  return packets.map((packet) => receiver.accept(packet) ?? '').join('')
}

test('digits and event codes are those of RFC 4733 table 3', () => {
  assert.deepEqual(['0', '9', '*', '#', 'A', 'd'].map(eventOfDigit), [0, 9, 10, 11, 12, 15])
  assert.deepEqual(['x', '', '12'].map(eventOfDigit), [undefined, undefined, undefined])
  assert.equal(digitOfEvent(11), '#')
  assert.equal(digitOfEvent(16), undefined)
})

test('an event is four bytes: code, end and volume, duration', () => {
  const event = { event: 11, end: true, volume: 10, duration: 800 }
  const bytes = serializeTelephoneEvent(event)
  assert.equal(Buffer.from(bytes).toString('hex'), '0b8a0320')
  assert.deepEqual(parseTelephoneEvent(bytes), event)
  assert.equal(parseTelephoneEvent(Uint8Array.of(1, 2, 3)), undefined)
})

test('sent digits are received once each, in order, repeated digits included', () => {
  assert.equal(receive(packetsOf('1123*#A0')), '1123*#A0')
})

test('digits survive any loss that leaves one packet of each, and any duplication', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(7), { minLength: 4, maxLength: 4 }), (kept) => {
      const all = packetsOf('5577')
      const survivors = kept.map((which, digit) => all[digit * 8 + which]!)
      assert.equal(receive(survivors), '5577')
      assert.equal(receive(survivors.flatMap((packet) => [packet, packet])), '5577')
    }),
  )
})

test('late packets of an earlier press are not a new press', () => {
  const all = packetsOf('12')
  assert.equal(receive([...all.slice(0, 4), ...all.slice(8), all[5]!, all[7]!]), '12')
})

test('a press longer than the duration field stays one press', () => {
  const long = (timestamp: number, duration: number, end: boolean) => ({
    timestamp,
    payload: serializeTelephoneEvent({ event: 5, end, volume: 10, duration }),
  })
  const segments = [
    long(1000, 160, false),
    long(1000, 0xffff, false),
    long(1000 + 0xffff, 160, false),
    long(1000 + 0xffff, 320, true),
  ]
  assert.equal(receive(segments), '5')
})

test('the queue is bounded and skips other characters', () => {
  const sender = createDigitSender()
  sender.queue(`a-b ${'7'.repeat(2 * maxQueuedDigits)}`)
  let presses = 0
  while (sender.isSending) if (sender.next()?.marker) presses++
  assert.equal(presses, maxQueuedDigits)
})

test('no payload makes it throw', () => {
  const receiver = createDigitReceiver()
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 12 }), fc.nat(0xffff_ffff), (payload, timestamp) => {
      const digit = receiver.accept({ payload, timestamp })
      assert.ok(digit === undefined || /^[0-9*#A-D]$/.test(digit))
    }),
  )
})
