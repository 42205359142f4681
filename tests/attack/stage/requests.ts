import { randomBytes } from 'node:crypto'
import { composeSip } from './sip-text.ts'

export interface RequestParts {
  /** The sender's address in Via and Contact. */
  readonly address: string
  readonly port: number
  readonly transport?: 'UDP' | 'TCP' | 'TLS'
  readonly toTag?: string
  readonly callId?: string
  readonly fromTag?: string
  readonly branch?: string
  readonly body?: string
  readonly headers?: readonly (readonly [string, string])[]
}

const random = (): string => randomBytes(8).toString('hex')

/** A well-formed request that belongs to nothing. */
export const strangeRequest = (method: string, parts: RequestParts): string => {
  const { address, port, transport = 'UDP', toTag, body = '', headers = [] } = parts
  const branch = parts.branch ?? `z9hG4bK${random()}`
  return composeSip(
    `${method} sip:100@127.0.0.1 SIP/2.0`,
    [
      ['Via', `SIP/2.0/${transport} ${address}:${port};branch=${branch};rport`],
      ['Max-Forwards', '70'],
      ['From', `<sip:scanner@${address}>;tag=${parts.fromTag ?? random()}`],
      ['To', `<sip:100@127.0.0.1>${toTag === undefined ? '' : `;tag=${toTag}`}`],
      ['Call-ID', parts.callId ?? random()],
      ['CSeq', `1 ${method}`],
      ['Contact', `<sip:scanner@${address}:${port}>`],
      ...headers,
    ],
    body,
  )
}

/** A scanner's typical requests, and some unusual ones: all from one stranger. */
export const strangeMessages = (parts: RequestParts): string[] => {
  const methods = ['INVITE', 'OPTIONS', 'REGISTER', 'CANCEL', 'BYE', 'ACK', 'SUBSCRIBE', 'MESSAGE']
  const outside = methods.map((method) => strangeRequest(method, parts))
  const inside = [...methods, 'INFO', 'UPDATE', 'PRACK', 'REFER', 'NOTIFY'].map((method) =>
    strangeRequest(method, { ...parts, toTag: 'guessed' }),
  )
  const invite = strangeRequest('INVITE', parts)
  return [
    ...outside,
    ...inside,
    // Many stacks refuse it before any look-up.
    strangeRequest('FOO', parts),
    strangeRequest('INVITE', { ...parts, headers: [['Require', 'nothing-we-know']] }),
    strangeRequest('INVITE', { ...parts, headers: [['Content-Type', 'text/nonsense']], body: 'x' }),
    invite.replace('SIP/2.0\r\n', 'SIP/7.0\r\n'),
    invite.replace('Max-Forwards: 70', 'Max-Forwards: 0'),
    invite.replace(/CSeq: .*/, 'CSeq: 1 OPTIONS'),
    invite.replace(/Via: .*\r\n/, ''),
    invite.replace(/To: .*\r\n/, ''),
    invite.slice(0, 60),
    invite.slice(60),
    invite.replaceAll('\r\n', '\n'),
    '\r\n\r\n',
    '\r\n',
    '',
    'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
    'SIP/2.0 200 OK\r\n\r\n',
    randomBytes(200).toString('latin1'),
    '\0'.repeat(100),
  ]
}
