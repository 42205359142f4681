// `npm run fuzz sdp -- --inputs 1000000 --seed 1`: mutated session descriptions against offer and answer.
import { runByteFuzz, type ByteFuzz } from '../support/byte-fuzz.ts'
import { readAudio } from '../../src/sdp/read-sdp.ts'
import { createMediaNegotiator } from '../../src/sdp/sdp.ts'

const local = { address: '192.0.2.1', port: 40_000 }

const offers = [
  'v=0\r\no=- 1 1 IN IP4 192.0.2.2\r\ns=-\r\nc=IN IP4 192.0.2.2\r\nt=0 0\r\nm=audio 40002 RTP/AVP 0 8 101\r\na=rtpmap:0 PCMU/8000\r\na=rtpmap:101 telephone-event/8000\r\na=fmtp:101 0-16\r\na=ptime:30\r\na=sendonly\r\n',
  'v=0\r\no=- 1 1 IN IP6 2001:db8::1\r\ns=-\r\nt=0 0\r\nm=video 0 RTP/AVP 97\r\nm=audio 40002 RTP/SAVP 9 8\r\nc=IN IP6 2001:db8::1/127\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz|2^20|1:4\r\na=inactive\r\n',
]

export const sdpFuzz: ByteFuzz = {
  name: 'sdp',
  seeds: offers.map((offer) => Buffer.from(offer)),
  words: [
    '\r\n',
    'a=',
    'm=audio ',
    'c=IN IP4 ',
    'a=rtpmap:',
    'a=crypto:1 ',
    '|',
    ' ',
    '0',
    '99999999999',
    '\0',
    '=',
    '/',
    ':',
  ],
  read: (bytes) => {
    const text = bytes.toString('utf8')
    readAudio(text)
    createMediaNegotiator({ local }).answer(text)
    const asking = createMediaNegotiator({ local })
    asking.offer()
    asking.acceptAnswer(text)
  },
}

if (process.argv[1] === import.meta.filename) runByteFuzz(sdpFuzz)
