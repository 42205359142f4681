// `npm run fuzz sip -- --inputs 1000000 --seed 1`: mutated messages against every reader of SIP.
import { runByteFuzz, type ByteFuzz } from '../support/byte-fuzz.ts'
import { originalMessages } from '../support/sip/rfc4475.ts'
import { tortureBytes, tortureMessages } from '../support/sip/torture-messages.ts'
import { createDigestClient } from '../../src/sip/digest/digest.ts'
import { contactOf } from '../../src/sip/dialog/dialog-state.ts'
import { sessionExpiresOf, reasonCause, tagOf, topVia } from '../../src/sip/message/headers.ts'
import { MessageFramer } from '../../src/sip/message/message-framer.ts'
import { headerOf, serializeMessage } from '../../src/sip/message/message.ts'
import { parseMessage } from '../../src/sip/message/parse-message.ts'
import { clientKeyOfResponse, serverKeyOf } from '../../src/sip/message/transaction-key.ts'
import { parseSipUri } from '../../src/sip/message/uri.ts'
import { stampTopVia } from '../../src/sip/transport/response-routing.ts'

const answer = [
  'SIP/2.0 401 Unauthorized',
  'Via: SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bKa;rport=5060;received=192.0.2.1',
  'From: "A" <sip:a@b>;tag=1',
  'To: Zo\u00eb M\u00fcller <sip:b@c>;tag=2',
  'Call-ID: a@b',
  'CSeq: 1 INVITE',
  'Contact: <sip:b@192.0.2.2:5060;transport=tcp>;q=0.5',
  'Record-Route: <sip:192.0.2.3;lr>, <sip:192.0.2.4;lr>',
  'WWW-Authenticate: Digest realm="r", nonce="n", algorithm=SHA-256, qop="auth,auth-int", stale=true',
  'Session-Expires: 1800;refresher=uac',
  'Reason: Q.850;cause=16;text="bye"',
  'Content-Length: 0',
  '',
  '',
].join('\r\n')

const source = {
  protocol: 'udp',
  address: '192.0.2.1',
  port: 5060,
  reply: () => Promise.resolve(),
} as const

export const sipFuzz: ByteFuzz = {
  name: 'sip',
  seeds: [
    ...tortureMessages.map(tortureBytes),
    ...originalMessages.map(({ bytes }) => bytes),
    Buffer.from(answer),
  ],
  words: [
    '\r\n',
    '\r\n ',
    ';',
    ',',
    '"',
    '\\',
    '<',
    '>',
    ':',
    '=',
    '@',
    '[',
    ']',
    '%',
    '\0',
    'Via: ',
    ';tag=',
    'sip:',
    '\u{1f600}',
    '99999999999',
  ],
  read: (bytes) => {
    const framer = new MessageFramer(() => {})
    try {
      framer.push(bytes)
    } catch (error) {
      // Lost message borders are its documented answer.
      if (!(error instanceof Error) || !error.message.startsWith('a SIP ')) throw error
    }
    const parsed = parseMessage(bytes)
    if (!parsed.ok) return
    const { message } = parsed
    for (const name of ['from', 'to'] as const) tagOf(message, name)
    contactOf(message)
    topVia(message)
    sessionExpiresOf(message)
    reasonCause(message, 'Q.850')
    if (message.kind === 'request') {
      serverKeyOf(stampTopVia(message, source))
      parseSipUri(message.uri)
    } else {
      clientKeyOfResponse(message)
      const digest = createDigestClient(
        { username: 'u', password: 'p' },
        { isFirstHop: () => true },
      )
      digest.towards(source).learn(message)
    }
    const again = parseMessage(serializeMessage(message), 2 ** 20)
    if (again.ok && headerOf(again.message, 'call-id') !== headerOf(message, 'call-id'))
      throw new Error('a written message reads differently')
  },
}

// The test imports this file, so `import.meta.main` would be false under the start script.
if (process.argv[1] === import.meta.filename) runByteFuzz(sipFuzz)
