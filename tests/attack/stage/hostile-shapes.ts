import { strangeRequest, type RequestParts } from './requests.ts'

/** A message that grows with `size`, whose structure costs a careless reader quadratic time. */
export interface HostileShape {
  readonly name: string
  readonly write: (size: number) => string
}

const times = (text: string, size: number): string =>
  text.repeat(Math.floor(size / Math.max(1, text.length)))

/** Values of one header; each is put into every parsed header. */
const values: Readonly<Record<string, (size: number) => string>> = {
  'spaces and a letter': (size) => `SIP/2.0/UDP${times(' ', size)}x`,
  'spaces within': (size) => `SIP/2.0/UDP h${times(' ', size)};branch=z9hG4bK1 x`,
  'tabs and spaces before a colon': (size) =>
    `SIP/2.0/UDP h${times(' \t', size)}:${times(' ', 9)}x`,
  'empty parameters': (size) => `SIP/2.0/UDP h${times(';', size)}`,
  'spaced parameters': (size) => `SIP/2.0/UDP h${times('; rport ', size)}=`,
  'received again and again': (size) => `SIP/2.0/UDP h${times(';received ', size)}x`,
  'opened brackets': (size) => times('<', size),
  'closed brackets': (size) => `${times('>', size)}<sip:a@b>`,
  addresses: (size) => times('<sip:a@b>,', size),
  commas: (size) => times(',', size),
  'words before an address': (size) => `${times('a ', size)}<sip:a@b`,
  'an open quote': (size) => `"${times('\\"', size)}`,
  'quotes and spaces': (size) => times('" ', size),
  digits: (size) => times('1', size),
  'digits and spaces': (size) => `1${times(' ', size)}INVITE x`,
  'pairs of a challenge': (size) => `Digest ${times('a="b", ', size)}`,
  'spaces of a challenge': (size) => `Digest realm${times(' ', size)}x`,
  'a long word': (size) => times('a', size),
  colons: (size) => times(':', size),
  'an address of colons': (size) => `<sip:[${times(':', size)}]:5060>`,
  ats: (size) => `<sip:${times('@', size)}>`,
  percents: (size) => `<sip:${times('%4', size)}@b>`,
}

const names = [
  'Via',
  'From',
  'To',
  'Contact',
  'CSeq',
  'Call-ID',
  'Content-Length',
  'Content-Type',
  'Record-Route',
  'Route',
  'Require',
  'Session-Expires',
  'Reason',
  'Retry-After',
  'Proxy-Authenticate',
  'Max-Forwards',
] as const

/** Replaces a header, or puts it first. */
const withHeader = (message: string, name: string, value: string): string => {
  const line = new RegExp(`^${name}: .*$`, 'm')
  return line.test(message)
    ? message.replace(line, () => `${name}: ${value}`)
    : message.replace('\r\n', () => `\r\n${name}: ${value}\r\n`)
}

/** Every value in every header, and structures of whole messages. */
export const hostileShapes = (parts: RequestParts): HostileShape[] => {
  const invite = (): string => strangeRequest('INVITE', parts)
  const response = (): string => invite().replace(/^.*\r\n/, 'SIP/2.0 407 No\r\n')
  const headers = names.flatMap((name) =>
    Object.entries(values).map(([shape, write]) => ({
      name: `${name}: ${shape}`,
      write: (size: number) => withHeader(invite(), name, write(size)),
    })),
  )
  return [
    ...headers,
    ...['Via', 'CSeq', 'Proxy-Authenticate', 'Contact', 'Retry-After'].flatMap((name) =>
      Object.entries(values).map(([shape, write]) => ({
        name: `response, ${name}: ${shape}`,
        write: (size: number) => withHeader(response(), name, write(size)),
      })),
    ),
    { name: 'a start line of spaces', write: (size) => invite().replace(' ', times(' ', size)) },
    {
      name: 'many headers',
      write: (size) => invite().replace('\r\n', () => `\r\n${times('A:b\r\n', size)}`),
    },
    {
      name: 'many Vias',
      write: (size) => invite().replace('\r\n', () => `\r\n${times('v:SIP/2.0/UDP a\r\n', size)}`),
    },
    {
      name: 'folded lines',
      write: (size) => invite().replace('\r\n', () => `\r\nX: a\r\n${times(' \r\n', size)}`),
    },
    { name: 'line ends', write: (size) => times('\r\n', size) },
    { name: 'line ends and a letter', write: (size) => `${times('\r\n', size)}x` },
    { name: 'no line end', write: (size) => `INVITE sip:${times('a', size)}` },
    { name: 'words', write: (size) => times('INVITE ', size) },
  ]
}

const repeatedNames = ['Via', 'Contact', 'Record-Route', 'Proxy-Authenticate', 'X-Any'] as const
/** Short enough that no line is too long, repeated up to the maximum message size. */
const lineBytes = 3_500

/** Messages of a stream within every limit, full of the hostile values. */
export const repeatedShapes = (parts: RequestParts): HostileShape[] =>
  repeatedNames.flatMap((name) =>
    Object.entries(values).map(([shape, write]) => ({
      name: `${name} again and again: ${shape}`,
      write: (size: number) => {
        const line = [name, write(lineBytes)] as const
        const headers = Array.from({ length: Math.floor(size / lineBytes) }, () => line)
        return strangeRequest('OPTIONS', { ...parts, headers })
      },
    })),
  )

/** Bodies that are parsed within a dialog. */
export const hostileBodies: readonly {
  readonly name: string
  readonly method: string
  readonly type: string
  readonly write: (size: number) => string
}[] = [
  {
    name: 'INFO: spaces before the key',
    method: 'INFO',
    type: 'application/dtmf-relay',
    write: (size) => `Signal=${times(' ', size)}x\r\n`,
  },
  {
    name: 'INFO: lines of spaces',
    method: 'INFO',
    type: 'application/dtmf-relay',
    write: (size) => `${times(' \r\n', size)}Signal`,
  },
  {
    name: 'INFO: spaces alone',
    method: 'INFO',
    type: 'application/dtmf',
    write: (size) => `${times(' ', size)}x x`,
  },
  {
    name: 'SDP: spaces',
    method: 'INVITE',
    type: 'application/sdp',
    write: (size) => `v=0\r\no=- 1 1 IN IP4 1.1.1.1\r\ns=-\r\nm=audio 9${times(' ', size)}RTP\r\n`,
  },
  {
    name: 'SDP: attributes',
    method: 'INVITE',
    type: 'application/sdp',
    write: (size) => `v=0\r\nm=audio 9 RTP/AVP 0\r\n${times('a=rtpmap:0 PCMU/8000\r\n', size)}`,
  },
  {
    name: 'SDP: formats',
    method: 'INVITE',
    type: 'application/sdp',
    write: (size) => `v=0\r\nc=IN IP4 1.1.1.1\r\nm=audio 9 RTP/AVP${times(' 0', size)}\r\n`,
  },
  {
    name: 'SDP: one attribute',
    method: 'INVITE',
    type: 'application/sdp',
    write: (size) => `v=0\r\nm=audio 9 RTP/AVP 0\r\na=fmtp:0 ${times('a=b; ', size)}\r\n`,
  },
]
