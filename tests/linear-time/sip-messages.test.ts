// Runs alone: it compares how much time of a processor texts take.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { growthOf, largestLinearGrowth } from './linear-growth.ts'
import { fc } from '../support/properties.ts'
import { digitOfInfo } from '../../src/telephony/info-digit.ts'
import { createDigestClient } from '../../src/sip/digest/digest.ts'
import { parseParameters, splitOutsideQuotes } from '../../src/sip/message/header-syntax.ts'
import {
  parseCSeq,
  parseDelaySeconds,
  parseNameAddress,
  parseVia,
  reasonCause,
} from '../../src/sip/message/headers.ts'
import { MessageFramer } from '../../src/sip/message/message-framer.ts'
import {
  emptyBody,
  messageLimits,
  type SipRequest,
  type SipResponse,
} from '../../src/sip/message/message.ts'
import { parseMessage } from '../../src/sip/message/parse-message.ts'
import { readAudio } from '../../src/sdp/read-sdp.ts'
import { stampTopVia } from '../../src/sip/transport/response-routing.ts'
import { parseSipUri, schemeOf } from '../../src/sip/message/uri.ts'

/** Pieces that a SIP parser could scan repeatedly: separators, quotes, escapes, blanks, brackets, parameters. */
const single = Array.from(',;"\\ \t<>=:[](@?%.-a1\n\r\0\u00e9')
const pairs = [
  '\\"',
  '"\\',
  '<<',
  '<>',
  '><',
  ' ;',
  '; ',
  ' ,',
  ', ',
  ' : ',
  '\r\n',
  '\r\n ',
  '\r\n\t',
]
const fields = [';a', ';a=b', ';a="b"', ';rport', ';received= ', '\r\nX: y', '\r\nVia: a', '"a"']
const values = ['<sip:a@b>,', '"a" <sip:a@b>;tag=1,', 'SIP/2.0/UDP a;branch=b,', '\u{1f600}']
const pieces = [...single, ...pairs, ...fields, ...values]

const request = (headers: SipRequest['headers'], body: Buffer = emptyBody): SipRequest => ({
  kind: 'request',
  method: 'INFO',
  uri: 'sip:a@b',
  headers,
  body,
})

const challenge = (value: string): SipResponse => ({
  kind: 'response',
  status: 401,
  reason: '',
  headers: [
    ['www-authenticate', value],
    ['reason', value],
  ],
  body: emptyBody,
})

const source = {
  protocol: 'udp',
  address: '192.0.2.1',
  port: 5060,
  reply: () => Promise.resolve(),
} as const

const credentials = { username: 'a', password: 'b' }

const via = 'SIP/2.0/UDP a;branch=z9hG4bKa'

/** Every parser of peer input, and the prefixes that lead into its branches. */
const readers: Readonly<
  Record<string, readonly [starts: readonly string[], (text: string) => unknown]>
> = {
  parseVia: [['', via, 'SIP/2.0/UDP a', 'SIP/2.0/UDP ', 'SIP'], parseVia],
  parseNameAddress: [['', '"a', '<sip:', '<sip:a@b>', 'sip:a'], parseNameAddress],
  parseParameters: [['', ';a="'], parseParameters],
  splitOutsideQuotes: [['', '"'], (text) => splitOutsideQuotes(text, ',')],
  parseCSeq: [['', '1', '1 '], parseCSeq],
  parseDelaySeconds: [['', '1'], parseDelaySeconds],
  parseSipUri: [['', 'sip:', 'sip:a@', 'sip:a@b', 'sip:a@b;c'], parseSipUri],
  schemeOf: [['', 'a'], schemeOf],
  stampTopVia: [[via, `${via};rport`], (text) => stampTopVia(request([['via', text]]), source)],
  reasonCause: [['', 'Q.850;cause='], (text) => reasonCause(challenge(text), 'Q.850')],
  digest: [
    ['Digest ', 'Digest realm="a", nonce="b", qop="'],
    (text) =>
      createDigestClient(credentials, { isFirstHop: () => true })
        .towards(source)
        .learn(challenge(text)),
  ],
  readAudio: [
    ['', 'v=0\r\nm=audio 1 RTP/AVP 0', 'v=0\r\nm=audio 1 RTP/AVP 0\r\na=rtpmap:0 '],
    readAudio,
  ],
  digitOfInfo: [
    ['', 'Signal', 'Signal='],
    (text) => digitOfInfo(request([['content-type', 'application/dtmf-relay']], Buffer.from(text))),
  ],
}

const fill = (start: string, piece: string, end: string, length: number): string =>
  start + piece.repeat(Math.max(0, Math.ceil((length - start.length) / piece.length))) + end

const head = `OPTIONS sip:a@b SIP/2.0\r\nVia: ${via}\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:a@b>\r\nCall-ID: 1\r\nCSeq: 1 OPTIONS\r\n`

/** A whole message with the hostile part in each of its places. */
const places: readonly ((piece: string, length: number) => string)[] = [
  (piece, length) => fill(head.trimEnd(), piece, '\r\n\r\n', length),
  ...['Contact', 'Via', 'Record-Route', 'Supported', 'Subject'].map(
    (name) => (piece: string, length: number) =>
      fill(`${head}${name}: `, piece, '\r\n\r\n', length),
  ),
  (piece, length) => fill('OPTIONS ', piece, ' SIP/2.0\r\n\r\n', length),
  (piece, length) => fill(`${head}\r\n`, piece, '', length),
  (piece, length) => fill(head, `Via: ${via}${piece}\r\n`, '\r\n', length),
  (piece, length) => fill('', piece, '', length),
]

const growthAt = (place: number, piece: string): number =>
  growthOf((length) => {
    const text = places[place]?.(piece, length) ?? assert.fail()
    const bytes = Buffer.from(text).subarray(0, messageLimits.maxBytes)
    return () => void parseMessage(bytes)
  })

describe('hostile SIP', () => {
  for (const [name, [starts, read]] of Object.entries(readers)) {
    it(`costs ${name} linear time`, () => {
      for (const start of starts) {
        for (const piece of pieces) {
          for (const end of ['', '\0', '"', '>']) {
            const growth = growthOf((length) => {
              const text = fill(start, piece, end, length)
              return () => void read(text)
            })
            const found = JSON.stringify({ start, piece, end, growth })
            assert.ok(growth <= largestLinearGrowth, found)
          }
        }
      }
    })
  }

  it('is parsed as a whole message in linear time', () => {
    for (const piece of pieces) {
      for (const place of places.keys()) {
        const growth = growthAt(place, piece)
        assert.ok(growth <= largestLinearGrowth, JSON.stringify({ piece, place, growth }))
      }
    }
  })

  it('is parsed in linear time for sequences of random pieces', () => {
    const text = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(text, fc.nat(places.length - 1), (parts, place) => {
        const growth = growthAt(place, parts.join(''))
        assert.ok(growth <= largestLinearGrowth, String(growth))
      }),
    )
  })

  it('is framed in a stream in linear time, in pieces of any size', () => {
    const streams = [
      (length: number) => `${head}l: ${length}\r\n\r\n${'a'.repeat(length)}`,
      (length: number) => `${head}${fill('', 'X: y\r\n', '', length - 512)}l: 0\r\n\r\n`,
      (length: number) => '\r\n'.repeat(length / 2),
      (length: number) => fill('', `${head}l: 0\r\n\r\n`, '', length),
    ]
    for (const [at, stream] of streams.entries()) {
      for (const size of [1, 2, 3, 1_460]) {
        const growth = growthOf((length) => {
          const bytes = Buffer.from(stream(length - 512))
          return () => {
            const framer = new MessageFramer(() => {})
            for (let from = 0; from < bytes.length; from += size)
              framer.push(bytes.subarray(from, from + size))
          }
        })
        assert.ok(growth <= largestLinearGrowth, JSON.stringify({ at, size, growth }))
      }
    }
  })
})
