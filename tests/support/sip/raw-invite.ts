import {
  headerOf,
  emptyBody,
  type Header,
  type SipMessage,
  type SipRequest,
} from '../../../src/sip/message/message.ts'
import { newBranch, newTag } from '../../../src/sip/message/responses.ts'

interface RawInvite {
  /** Request-URI. */
  readonly to: string
  /** The sender's own port. */
  readonly port: number
  readonly from?: string
  readonly body?: string
  readonly headers?: readonly Header[]
}

/** A new call's INVITE, for peers that write messages themselves. */
export const rawInvite = ({
  to,
  port,
  from = '<sip:+12025550142@trunk.test>',
  body,
  headers = [],
}: RawInvite): SipRequest => ({
  kind: 'request',
  method: 'INVITE',
  uri: to,
  headers: [
    ['via', `SIP/2.0/UDP 127.0.0.1:${port};branch=${newBranch()};rport`],
    ['max-forwards', '70'],
    ['from', `${from};tag=${newTag()}`],
    ['to', `<${to}>`],
    ['call-id', `${newTag()}@trunk.test`],
    ['cseq', '1 INVITE'],
    ['contact', `<sip:trunk@127.0.0.1:${port}>`],
    ...headers,
    ...(body === undefined ? [] : [['content-type', 'application/sdp'] as const]),
  ],
  body: body === undefined ? emptyBody : Buffer.from(body),
})

/** The same INVITE on another path: only its branch differs (RFC 3261 8.2.2.2). */
export const copyOf = (invite: SipRequest): SipRequest => ({
  ...invite,
  headers: invite.headers.map(([name, value]): Header => [
    name,
    name === 'via' ? value.replace(/branch=[^;]+/, `branch=${newBranch()}`) : value,
  ]),
})

/** CANCEL of an INVITE (RFC 3261 9.1). */
export const cancelOf = (invite: SipRequest): SipRequest => ({
  ...invite,
  method: 'CANCEL',
  headers: invite.headers
    .filter(([name]) => name !== 'contact' && name !== 'content-type')
    .map(([name, value]): Header => [name, name === 'cseq' ? '1 CANCEL' : value]),
  body: emptyBody,
})

interface Inside {
  readonly method: string
  readonly sequence: number
  readonly body?: string
}

/** A request of the caller inside the dialog that our 200 made. */
export const insideOf = (
  invite: SipRequest,
  success: SipMessage,
  { method, sequence, body }: Inside,
): SipRequest => ({
  kind: 'request',
  method,
  uri: /<([^>]+)>/.exec(headerOf(success, 'contact') ?? '')?.[1] ?? invite.uri,
  headers: [
    ['via', (headerOf(invite, 'via') ?? '').replace(/branch=[^;]+/, `branch=${newBranch()}`)],
    ['max-forwards', '70'],
    ['from', headerOf(invite, 'from') ?? ''],
    ['to', headerOf(success, 'to') ?? ''],
    ['call-id', headerOf(invite, 'call-id') ?? ''],
    ['cseq', `${sequence} ${method}`],
    ['contact', headerOf(invite, 'contact') ?? ''],
    ...(body === undefined ? [] : [['content-type', 'application/sdp'] as const]),
  ],
  body: body === undefined ? emptyBody : Buffer.from(body),
})
