/**
 * SIP messages as text: the harness has its own parser, so that a bug of the product's parser cannot hide in both.
 */
export interface SipText {
  readonly start: string
  /** Of a request; `undefined` for a response. */
  readonly method: string | undefined
  /** Of a response. */
  readonly status: number | undefined
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
}

const compactNames: Readonly<Record<string, string>> = {
  v: 'via',
  f: 'from',
  t: 'to',
  i: 'call-id',
  m: 'contact',
  l: 'content-length',
  c: 'content-type',
  r: 'refer-to',
}

export const parseSip = (text: string): SipText | undefined => {
  const headEnd = text.indexOf('\r\n\r\n')
  const [start = '', ...lines] = (headEnd < 0 ? text : text.slice(0, headEnd)).split('\r\n')
  if (!start.includes('SIP/2.0')) return undefined
  const isResponse = start.startsWith('SIP/2.0')
  const [first = '', second = ''] = start.split(' ')
  return {
    start,
    method: isResponse ? undefined : first,
    status: isResponse ? Number(second) : undefined,
    headers: lines.map((line) => {
      const colon = line.indexOf(':')
      const name = line.slice(0, colon).trim().toLowerCase()
      return [compactNames[name] ?? name, line.slice(colon + 1).trim()] as const
    }),
    body: headEnd < 0 ? '' : text.slice(headEnd + 4),
  }
}

export const headerOf = ({ headers }: SipText, name: string): string =>
  headers.find(([each]) => each === name)?.[1] ?? ''

export const headersOf = ({ headers }: SipText, name: string): string[] =>
  headers.filter(([each]) => each === name).map(([, value]) => value)

export const composeSip = (
  start: string,
  headers: readonly (readonly [string, string])[],
  body = '',
): string =>
  [
    start,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')

/** A response with the fields that RFC 3261 8.2.6.2 copies from the request. */
export const composeResponse = (
  request: SipText,
  status: string,
  { toTag, headers = [], body = '' }: ResponseParts,
): string => {
  const to = headerOf(request, 'to')
  return composeSip(
    `SIP/2.0 ${status}`,
    [
      ...headersOf(request, 'via').map((via) => ['Via', via] as const),
      ['From', headerOf(request, 'from')],
      ['To', toTag === undefined || to.includes(';tag=') ? to : `${to};tag=${toTag}`],
      ['Call-ID', headerOf(request, 'call-id')],
      ['CSeq', headerOf(request, 'cseq')],
      ...headers,
    ],
    body,
  )
}

export interface ResponseParts {
  readonly toTag?: string | undefined
  readonly headers?: readonly (readonly [string, string])[]
  readonly body?: string
}

/** The text between the angle brackets, or the whole without parameters. */
export const uriOf = (nameAddress: string): string =>
  /<([^>]*)>/.exec(nameAddress)?.[1] ?? nameAddress.split(';')[0] ?? ''

export const tagOf = (nameAddress: string): string =>
  /;tag=([^;>\s]+)/.exec(nameAddress.slice(nameAddress.indexOf('>') + 1))?.[1] ?? ''

export const branchOf = (message: SipText): string =>
  /;branch=([^;\s]+)/.exec(headerOf(message, 'via'))?.[1] ?? ''
