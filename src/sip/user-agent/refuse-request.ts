import { calleeExtensionRefusalOf, type Refusal } from '../dialog/extension-refusal.ts'
import { allowedMethods, type AgentContext } from '../dialog/agent-context.ts'
import { headerOf, headersOf, type Header, type SipRequest } from '../message/message.ts'
import { isTooBrief } from '../dialog/session-timer.ts'
import { schemeOf } from '../message/uri.ts'

/** The checks of RFC 3261 8.2, in its order; `undefined` for an acceptable INVITE or OPTIONS. */
export const refusalOfRequest = (
  request: SipRequest,
  context: AgentContext,
): Refusal | undefined => {
  for (const check of checks) {
    const refusal = check(request, context)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

type Check = (request: SipRequest, context: AgentContext) => Refusal | undefined

const insideDialogOnly = new Set(['BYE', 'INFO', 'NOTIFY', 'PRACK', 'UPDATE'])
const neverTaken = new Set(['MESSAGE', 'PUBLISH', 'REFER', 'REGISTER', 'SUBSCRIBE'])

// 8.2.1
const knownMethod: Check = ({ method }) => {
  if (method === 'INVITE' || method === 'OPTIONS') return undefined
  if (insideDialogOnly.has(method)) return { status: 481, headers: [] }
  const status = neverTaken.has(method) ? 405 : 501
  return { status, headers: [['allow', allowedMethods]] }
}

// 8.2.2.1
const knownScheme: Check = ({ uri }) =>
  ['sip', 'sips', 'tel'].includes(schemeOf(uri) ?? '') ? undefined : { status: 416, headers: [] }

// 8.2.2.3
const knownExtensions: Check = (request) => calleeExtensionRefusalOf(request)

// 8.2.3
const readableBody: Check = (request) => {
  if (request.body.length === 0) return undefined
  const type = (headerOf(request, 'content-type') ?? '').split(';')[0]?.trim().toLowerCase()
  const encoding = headerOf(request, 'content-encoding')?.toLowerCase() ?? 'identity'
  if (type === 'application/sdp' && encoding === 'identity') return undefined
  const headers: Header[] = [
    ['accept', 'application/sdp'],
    ['accept-encoding', 'identity'],
  ]
  return { status: 415, headers }
}

/** The types of an Accept that our answer has. Without an Accept it is `application/sdp` (RFC 3261 20.1). */
const typesOfAnswer = new Set(['application/sdp', 'application/*', '*/*'])

// 21.4.7: the answer to an INVITE is a description, which such a caller does not take.
const takesDescriptions: Check = (request) => {
  const types = headersOf(request, 'accept')
    .map((value) => (value.split(';')[0] ?? '').trim().toLowerCase())
    .filter((type) => type !== '')
  if (request.method !== 'INVITE' || types.length === 0) return undefined
  return types.some((type) => typesOfAnswer.has(type)) ? undefined : { status: 406, headers: [] }
}

// RFC 4028 9
const longEnoughSession: Check = (request, { sessionTimer }) =>
  isTooBrief(request, sessionTimer)
    ? { status: 422, headers: [['min-se', String(sessionTimer.minSeconds)]] }
    : undefined

const checks: readonly Check[] = [
  knownMethod,
  knownScheme,
  knownExtensions,
  readableBody,
  takesDescriptions,
  longEnoughSession,
]
