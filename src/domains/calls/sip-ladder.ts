import type { SipTraceMessage, StoredSipTrace } from './sip-trace-store.ts'

/**
 * The messages of one attempt, an arrow each: `→ INVITE sip:+1202***0100@192.0.2.1`, `← 486 Busy Here (INVITE)`. The
 * addresses of the installation's carriers are not for its tenants.
 */
export const ladderOf = (
  { first, last, omitted }: StoredSipTrace,
  showsHosts: boolean,
): string[] => {
  const rungOf = ({ direction, text }: SipTraceMessage): string =>
    `${direction === 'sent' ? '→' : '←'} ${titleOf(text, showsHosts)}`
  return [
    ...first.map(rungOf),
    ...(omitted === 0 ? [] : [`… ${omitted} messages that were not kept …`]),
    ...last.map(rungOf),
  ]
}

const maxHeaders = 200

/** A request by its line, a response by its status and the method that it belongs to. */
export const titleOf = (text: string, showsHosts: boolean): string => {
  const [line = '', ...headers] = text.split('\r\n', maxHeaders)
  if (!line.startsWith('SIP/2.0 ')) {
    const request = line.replace(/ SIP\/2\.0$/, '')
    return showsHosts ? request : withoutHost(request)
  }
  const sequence = headers.find((header) => /^cseq:/i.test(header))
  const method = sequence?.split(' ').at(-1)
  return `${line.slice('SIP/2.0 '.length)}${method === undefined ? '' : ` (${method})`}`
}

/** `INVITE sip:+1202***0100@192.0.2.1;user=phone` as `INVITE sip:+1202***0100`; a URI without a user as its scheme. */
const withoutHost = (request: string): string => {
  const at = request.indexOf('@')
  return at >= 0 ? request.slice(0, at) : (request.split(':', 1)[0] ?? '')
}
