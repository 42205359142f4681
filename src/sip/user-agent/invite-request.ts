import { allowedMethods } from '../dialog/agent-context.ts'
import { contactHeader } from '../transaction/hop.ts'
import { cseqOf } from '../message/headers.ts'
import { emptyBody, type Header, type SipRequest } from '../message/message.ts'
import type { SessionTimerSettings } from '../dialog/session-timer.ts'
import type { Hop } from '../transaction/hop.ts'
import type { InviteOptions } from './user-agent-types.ts'

/** What changes between the INVITEs of one attempt, and what makes them one attempt. */
interface InviteIdentity {
  /** Request-URI: the target of the call, or where a 3xx led. */
  readonly target: string
  readonly hop: Hop
  readonly sipCallId: string
  readonly localTag: string
  readonly sequence: number
  readonly session: SessionTimerSettings
  readonly userAgentName: string
}

/** An INVITE with our offer, still without Via and credentials (RFC 3261 13.2.1, RFC 4028 7.1). */
export const buildInvite = (options: InviteOptions, identity: InviteIdentity): SipRequest => ({
  kind: 'request',
  method: 'INVITE',
  uri: identity.target,
  body: Buffer.from(options.offer, 'utf8'),
  headers: [
    ['max-forwards', '70'],
    ...(options.routes ?? []).map((route): Header => ['route', `<${looseRoute(route)}>`]),
    ['from', `<${options.from}>;tag=${identity.localTag}`],
    ['to', `<${options.to ?? options.target}>`],
    ['call-id', identity.sipCallId],
    ['cseq', `${identity.sequence} INVITE`],
    contactHeader(identity.hop),
    ['allow', allowedMethods],
    ['supported', 'timer, 100rel'],
    ['session-expires', String(identity.session.expiresSeconds)],
    ['min-se', String(identity.session.minSeconds)],
    ['user-agent', identity.userAgentName],
    ...Object.entries(options.headers ?? {}).map(([name, value]): Header => [
      name.toLowerCase(),
      value,
    ]),
    ['content-type', 'application/sdp'],
  ],
})

/** A proxy of RFC 3261 keeps the Request-URI (16.4); every carrier's does. */
const looseRoute = (uri: string): string => (/;lr(?:[;=]|$)/.test(uri) ? uri : `${uri};lr`)

/** CANCEL goes where its INVITE went, with the same Via, and requests no session (RFC 3261 9.1). */
export const buildCancel = (invite: SipRequest): SipRequest => {
  const kept = new Set(['via', 'max-forwards', 'route', 'from', 'to', 'call-id'])
  const headers = invite.headers.filter(([name]) => kept.has(name))
  const cseq: Header = ['cseq', `${cseqOf(invite).sequence} CANCEL`]
  return {
    kind: 'request',
    method: 'CANCEL',
    uri: invite.uri,
    headers: [...headers, cseq],
    body: emptyBody,
  }
}
