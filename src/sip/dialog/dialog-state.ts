import { cseqOf, parseNameAddress, readNameAddress, tagOf } from '../message/headers.ts'
import {
  emptyBody,
  headerOf,
  headersOf,
  type Header,
  type SipMessage,
  type SipRequest,
  type SipResponse,
} from '../message/message.ts'
import { parseSipUri } from '../message/uri.ts'

/**
 * What both ends of a dialog must know (RFC 3261 12). Sequence numbers and the target change, the route set until
 * the dialog is confirmed; the rest is constant.
 */
export interface DialogState {
  readonly sipCallId: string
  readonly localTag: string
  readonly remoteTag: string
  /** Values of From and To in our requests, tags included. */
  readonly localAddress: string
  readonly remoteAddress: string
  routeSet: readonly string[]
  remoteTarget: string
  localSequence: number
  /** Highest CSeq seen from the other side; -1 before its first request. */
  remoteSequence: number
  readonly isCaller: boolean
}

/** The caller's dialog, from its INVITE and a response with a To tag (RFC 3261 12.1.2). */
export const callerDialog = (invite: SipRequest, response: SipResponse): DialogState => ({
  sipCallId: headerOf(invite, 'call-id') ?? '',
  localTag: tagOf(invite, 'from') ?? '',
  remoteTag: tagOf(response, 'to') ?? '',
  localAddress: headerOf(invite, 'from') ?? '',
  remoteAddress: writableAddress(headerOf(response, 'to') ?? ''),
  routeSet: callerRouteSet(response),
  remoteTarget: contactOf(response) ?? invite.uri,
  localSequence: cseqOf(invite).sequence,
  remoteSequence: -1,
  isCaller: true,
})

/** The caller's route set: the response's readable Record-Routes in reverse order (RFC 3261 12.1.2). */
export const callerRouteSet = (response: SipResponse): readonly string[] =>
  headersOf(response, 'record-route')
    .filter((value) => readNameAddress(value) !== undefined)
    .toReversed()

/** The callee's dialog, from the INVITE and the tag of our response (RFC 3261 12.1.1). */
export const calleeDialog = (invite: SipRequest, localTag: string): DialogState => ({
  sipCallId: headerOf(invite, 'call-id') ?? '',
  localTag,
  remoteTag: tagOf(invite, 'from') ?? '',
  localAddress: `${headerOf(invite, 'to') ?? ''};tag=${localTag}`,
  remoteAddress: headerOf(invite, 'from') ?? '',
  routeSet: headersOf(invite, 'record-route'),
  remoteTarget: contactOf(invite) ?? addressOf(headerOf(invite, 'from') ?? ''),
  localSequence: 0,
  remoteSequence: cseqOf(invite).sequence,
  isCaller: false,
})

/** Key of the dialog a request from the other side belongs to: its To tag is ours (RFC 3261 12.2.2). */
export const dialogKeyOfRequest = (request: SipRequest): string =>
  dialogKey(
    headerOf(request, 'call-id') ?? '',
    tagOf(request, 'to') ?? '',
    tagOf(request, 'from') ?? '',
  )

export const dialogKeyOf = (state: DialogState): string =>
  dialogKey(state.sipCallId, state.localTag, state.remoteTag)

const dialogKey = (sipCallId: string, localTag: string, remoteTag: string): string =>
  `${sipCallId}|${localTag}|${remoteTag}`

/** Where requests of the dialog go: the hosts of these URIs may send us theirs. */
export const peerUrisOf = (state: DialogState): readonly string[] => [
  state.remoteTarget,
  ...state.routeSet.map(addressOf),
]

/** The Contact URI of a message. An unquoted name with a comma looks like two values, of which one has the URI. */
export const contactOf = (message: SipMessage): string | undefined => {
  for (const value of headersOf(message, 'contact')) {
    const uri = readNameAddress(value)?.uri
    if (uri !== undefined) return uri
  }
  return undefined
}

const addressOf = (value: string): string => readNameAddress(value)?.uri ?? ''

/** The address as others wrote it; without its display name where that would make our own requests unreadable. */
const writableAddress = (value: string): string => {
  if (parseNameAddress(value) !== undefined) return value
  const address = readNameAddress(value)
  const tag = address?.parameters.get('tag')
  return `<${address?.uri ?? ''}>${tag === undefined ? '' : `;tag=${tag}`}`
}

/**
 * A request within the dialog, without Via and Contact, and the URI of its next hop. Loose routing keeps the target
 * in the request line; before a strict router (no `lr`) target and first route change places (RFC 3261 12.2.1.1).
 */
export const dialogRequest = (
  state: DialogState,
  method: string,
  sequence: number,
  extra: { readonly headers?: readonly Header[]; readonly body?: string } = {},
): { readonly request: SipRequest; readonly nextHop: string } => {
  const { uri, routes } = routing(state)
  const headers: Header[] = [
    ['max-forwards', '70'],
    ...routes.map((route): Header => ['route', route]),
    ['from', state.localAddress],
    ['to', state.remoteAddress],
    ['call-id', state.sipCallId],
    ['cseq', `${sequence} ${method}`],
    ...(extra.headers ?? []),
  ]
  const body = extra.body === undefined ? emptyBody : Buffer.from(extra.body, 'utf8')
  const nextHop = state.routeSet[0] === undefined ? uri : addressOf(state.routeSet[0])
  return { request: { kind: 'request', method, uri, headers, body }, nextHop }
}

const routing = (state: DialogState): { uri: string; routes: readonly string[] } => {
  const [first, ...rest] = state.routeSet
  if (first === undefined) return { uri: state.remoteTarget, routes: [] }
  const firstUri = addressOf(first)
  const isLoose = parseSipUri(firstUri)?.parameters.has('lr') ?? true
  return isLoose
    ? { uri: state.remoteTarget, routes: state.routeSet }
    : { uri: firstUri, routes: [...rest, `<${state.remoteTarget}>`] }
}
