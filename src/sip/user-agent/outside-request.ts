import type { AgentContext } from '../dialog/agent-context.ts'
import { createDigestClient, type Credentials } from '../digest/digest.ts'
import type { DigestPolicy } from '../digest/digest-policy.ts'
import type { Destination } from '../message/destination.ts'
import { emptyBody, type Header, type SipRequest, type SipResponse } from '../message/message.ts'
import { contactHeader, withVia, type Hop } from '../transaction/hop.ts'

/** A request outside of dialogs, but for INVITE: REGISTER, OPTIONS with credentials. */
export interface OutsideRequest {
  readonly method: string
  /** The Request-URI. */
  readonly uri: string
  /** Where it goes; by default to the Request-URI. */
  readonly routes?: readonly string[]
  readonly from: string
  readonly to: string
  readonly fromTag: string
  readonly sipCallId: string
  readonly sequence: number
  /** Parameters of our Contact, such as `;expires=600`. */
  readonly contactParameters: string
  readonly headers: readonly Header[]
  readonly credentials?: Credentials | undefined
  readonly digestPolicy?: DigestPolicy | undefined
  readonly timeoutMs: number
}

/** What came of it. `sequence` is the last CSeq that was used. */
export type OutsideResult =
  | {
      readonly kind: 'response'
      readonly response: SipResponse
      /** Our Contact in it, without parameters. */
      readonly contact: string
      readonly sequence: number
      /** The refused request carried the answer to a challenge. */
      readonly isAuthorized: boolean
    }
  | { readonly kind: 'unreachable'; readonly reason: string; readonly sequence: number }

/** A 401, a 407 and a stale nonce of each. */
const maxRequests = 5

/** Sends the request, answers its challenges, and resolves with the final response. Never rejects. */
export const sendOutside = async (
  context: AgentContext,
  request: OutsideRequest,
): Promise<OutsideResult> => {
  let { sequence } = request
  const deadline = withLimit(request.timeoutMs)
  try {
    const hop = await Promise.race([
      context.signalling.route(request.routes?.[0] ?? request.uri),
      deadline.reached,
    ])
    const digest = createDigestClient(request.credentials, {
      policy: request.digestPolicy,
      isFirstHop: (destination) => isSame(destination, hop.destination),
    }).towards(hop.destination)
    const contact = contactHeader(hop)[1]
    for (let count = 1; ; count += 1, sequence += 1) {
      const plain = build(context, request, contact, sequence)
      const signed = { ...plain, headers: [...plain.headers, ...digest.sign(plain)] }
      const response = await Promise.race([transact(context, hop, signed), deadline.reached])
      const isAuthorized = signed.headers.length > plain.headers.length
      if (count < maxRequests && digest.learn(response)) continue
      if (response.status < 300) digest.prove(response)
      return { kind: 'response', response, contact, sequence, isAuthorized }
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { kind: 'unreachable', reason, sequence }
  } finally {
    deadline.stop()
  }
}

const build = (
  context: AgentContext,
  request: OutsideRequest,
  contact: string,
  sequence: number,
): SipRequest => ({
  kind: 'request',
  method: request.method,
  uri: request.uri,
  headers: [
    ['max-forwards', '70'],
    ...(request.routes ?? []).map((route): Header => ['route', `<${loose(route)}>`]),
    ['from', `<${request.from}>;tag=${request.fromTag}`],
    ['to', `<${request.to}>`],
    ['call-id', request.sipCallId],
    ['cseq', `${sequence} ${request.method}`],
    ['contact', `${contact}${request.contactParameters}`],
    ...request.headers,
    ['user-agent', context.userAgentName],
  ],
  body: emptyBody,
})

const loose = (uri: string): string => (/;lr(?:[;=]|$)/.test(uri) ? uri : `${uri};lr`)

const isSame = (a: Destination, b: Destination): boolean =>
  a.address === b.address && a.port === b.port

const transact = (context: AgentContext, hop: Hop, request: SipRequest): Promise<SipResponse> => {
  const { promise, resolve, reject } = Promise.withResolvers<SipResponse>()
  context.signalling.startRequest(withVia(request, hop), hop, {
    onResponse: (response) => {
      if (response.status >= 200) resolve(response)
    },
    onTimeout: () => reject(new Error('no response came')),
    onTransportError: reject,
    onTerminated: () => reject(new Error('no response came')),
  })
  return promise
}

const withLimit = (limitMs: number): { readonly reached: Promise<never>; stop(): void } => {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('no response came')), limitMs)
  promise.catch(() => undefined)
  return { reached: promise, stop: () => clearTimeout(timer) }
}
