import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../tests/support/properties.ts'
import { readAudio } from './read-sdp.ts'
import { createMediaNegotiator, type AgreedAudio } from './sdp.ts'

const local = { address: '192.0.2.10', port: 40_000 }

const description = (...media: readonly string[]): string =>
  [
    'v=0',
    'o=- 1 1 IN IP4 198.51.100.1',
    's=-',
    'c=IN IP4 198.51.100.1',
    't=0 0',
    ...media,
    '',
  ].join('\r\n')

const originOf = (sdp: string): { id: string; version: number } => {
  const match = /^o=- (\d+) (\d+) /m.exec(sdp)
  return { id: match?.[1] ?? '', version: Number(match?.[2]) }
}

test('offer and answer of two of us agree on G.711 and telephone-event', () => {
  const caller = createMediaNegotiator({ local })
  const callee = createMediaNegotiator({ local: { address: '192.0.2.20', port: 50_000 } })
  const answer = callee.answer(caller.offer())
  assert.deepEqual(caller.acceptAnswer(answer?.sdp ?? ''), {
    remote: { address: '192.0.2.20', port: 50_000 },
    codec: 'pcmu',
    payloadType: 0,
    telephoneEventPayloadType: 101,
    ownTelephoneEventPayloadType: 101,
    direction: 'sendrecv',
  })
})

test('keys have a number for each direction: ours in what we get, theirs in what we send', () => {
  const events = (number: number) => [
    `m=audio 4000 RTP/AVP 0 ${number}`,
    `a=rtpmap:${number} telephone-event/8000`,
  ]
  const numbersOf = (audio: AgreedAudio | undefined) => [
    audio?.telephoneEventPayloadType,
    audio?.ownTelephoneEventPayloadType,
  ]
  const caller = createMediaNegotiator({ local })
  caller.offer()
  assert.deepEqual(numbersOf(caller.acceptAnswer(description(...events(96)))), [96, 101])
  const answer = caller.answer(description(...events(97)))
  assert.deepEqual(numbersOf(answer?.audio), [97, 97])
  assert.match(answer?.sdp ?? '', /a=rtpmap:97 telephone-event/)
  assert.deepEqual(numbersOf(caller.acceptAnswer(description('m=audio 4000 RTP/AVP 0'))), [
    undefined,
    undefined,
  ])
})

test('the protocol of an offer is repeated in the answer', () => {
  for (const protocol of ['RTP/AVP', 'RTP/AVPF']) {
    const answer = createMediaNegotiator({ local }).answer(
      description(`m=audio 4000 ${protocol} 0`),
    )
    assert.match(answer?.sdp ?? '', new RegExp(`^m=audio 40000 ${protocol} 0\r$`, 'm'))
  }
})

test('a description with too many or too long lines is refused', () => {
  const media = 'm=audio 4000 RTP/AVP 0'
  assert.ok(readAudio(description(media, ...Array<string>(400).fill('a=x'))))
  assert.equal(readAudio(description(media, ...Array<string>(520).fill('a=x'))), undefined)
  assert.equal(readAudio(description(media, `a=${'x'.repeat(5_000)}`)), undefined)
})

test("the other side's order of codecs decides", () => {
  const negotiator = createMediaNegotiator({ local })
  assert.equal(negotiator.acceptAnswer(description('m=audio 4000 RTP/AVP 18 8 0'))?.codec, 'pcma')
})

test('payload types without rtpmap, and dynamic ones with it, are understood', () => {
  const bare = readAudio(description('m=audio 4000 RTP/AVP 8'))
  assert.deepEqual(bare?.codecs, [{ codec: 'pcma', payloadType: 8 }])
  const dynamic = readAudio(
    description(
      'm=audio 4000 RTP/AVP 99 97',
      'a=rtpmap:99 pcmu/8000/1',
      'a=rtpmap:97 Telephone-Event/8000',
    ),
  )
  assert.deepEqual(dynamic?.codecs, [{ codec: 'pcmu', payloadType: 99 }])
  assert.equal(dynamic?.telephoneEventPayloadType, 97)
})

test('telephone-event of another clock rate is ignored', () => {
  const audio = readAudio(
    description('m=audio 4000 RTP/AVP 0 96', 'a=rtpmap:96 telephone-event/48000'),
  )
  assert.equal(audio?.telephoneEventPayloadType, undefined)
})

test('an answer without a common codec, without audio or with port 0 is refused', () => {
  const negotiator = createMediaNegotiator({ local })
  const refused = [
    description('m=audio 4000 RTP/AVP 18'),
    description('m=audio 0 RTP/AVP 0'),
    description('m=audio 4000 RTP/SAVP 0'),
    description('m=video 4000 RTP/AVP 31'),
    description('m=audio x RTP/AVP 0'),
    '',
    'not sdp',
  ]
  for (const sdp of refused) {
    assert.equal(negotiator.acceptAnswer(sdp), undefined, sdp)
    assert.equal(negotiator.answer(sdp), undefined, sdp)
  }
})

test('directions are answered by their complement', () => {
  const pairs = [
    ['sendrecv', 'sendrecv'],
    ['sendonly', 'recvonly'],
    ['recvonly', 'sendonly'],
    ['inactive', 'inactive'],
  ] as const
  for (const [offered, answered] of pairs) {
    const negotiator = createMediaNegotiator({ local })
    const answer = negotiator.answer(description('m=audio 4000 RTP/AVP 0', `a=${offered}`))
    assert.equal(answer?.audio.direction, answered)
    assert.match(answer?.sdp ?? '', new RegExp(`^a=${answered}\r$`, 'm'))
  }
})

test('the null address is hold, and its end restores the media', () => {
  const negotiator = createMediaNegotiator({ local })
  const held = description('m=audio 4000 RTP/AVP 0').replace(
    'c=IN IP4 198.51.100.1',
    'c=IN IP4 0.0.0.0',
  )
  assert.equal(negotiator.answer(held)?.audio.direction, 'recvonly')
  const resumed = negotiator.answer(description('m=audio 4002 RTP/AVP 0'))?.audio
  assert.equal(resumed?.direction, 'sendrecv')
  assert.deepEqual(resumed?.remote, { address: '198.51.100.1', port: 4002 })
})

test('an address at the media line overrides that of the session', () => {
  const audio = readAudio(description('m=audio 4000 RTP/AVP 0', 'c=IN IP4 203.0.113.9'))
  assert.equal(audio?.remote.address, '203.0.113.9')
})

test('every media line is answered in its place, all but one with port 0', () => {
  const negotiator = createMediaNegotiator({ local })
  const answer = negotiator.answer(
    description('m=video 5000 RTP/AVP 31', 'm=audio 4000 RTP/AVP 0', 'm=audio 4004 RTP/AVP 8'),
  )
  assert.deepEqual(
    answer?.sdp.split('\r\n').filter((line) => line.startsWith('m=')),
    ['m=video 0 RTP/AVP 31', 'm=audio 40000 RTP/AVP 0', 'm=audio 0 RTP/AVP 8'],
  )
})

test('the version of the origin rises only when the description changes', () => {
  const negotiator = createMediaNegotiator({ local })
  const first = originOf(negotiator.offer())
  assert.deepEqual(originOf(negotiator.offer()), first)
  const held = originOf(negotiator.offer('sendonly'))
  assert.deepEqual(held, { id: first.id, version: first.version + 1 })
})

test('our own hold is kept when the other side offers again', () => {
  const negotiator = createMediaNegotiator({ local })
  negotiator.offer('inactive')
  const answer = negotiator.answer(description('m=audio 4000 RTP/AVP 0'))
  assert.equal(answer?.audio.direction, 'inactive')
})

test('no text makes the SDP reader throw', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'm=audio ',
      'a=rtpmap:',
      'c=IN IP4 ',
      '\r\n',
      ' RTP/AVP ',
      'a=sendonly',
      '__proto__',
      '0 ',
      '/',
    ),
    fc.string({ maxLength: 12 }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const negotiator = createMediaNegotiator({ local })
      const answer = negotiator.answer(`v=0\r\n${pieces.join('')}`)
      if (answer !== undefined) assert.ok(readAudio(answer.sdp))
    }),
    { numRuns: 3000 },
  )
})
