import { allowedMethods, type AgentContext } from './agent-context.ts'
import { headerOf, headersOf, type Header, type SipRequest } from '../message/message.ts'
import { isTooBrief } from '../dialog/session-timer.ts'
import { schemeOf } from '../message/uri.ts'

/** Why a request outside any dialog is refused, as status and headers of its response. */
export interface Refusal {
  readonly status: number
  readonly headers: readonly Header[]
}

/** The checks of RFC 3261 8.2, in its order; `undefined` for an acceptable INVITE or OPTIONS. */
export const refusalOf = (request: SipRequest, context: AgentContext): Refusal | undefined => {
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

// 8.2.2.3. As callee we send no reliable provisional responses, so a caller may not require them.
const calleeExtensions = new Set(['timer', 'replaces'])

// There, every request gets its final response at once, so 100rel does not apply.
const dialogExtensions = new Set([...calleeExtensions, '100rel'])

const knownExtensions: Check = (request) => refuseUnknown(request, calleeExtensions)

/** The same check for a request inside a dialog; never for a BYE, because its sender is gone. */
export const extensionRefusalOf = (request: SipRequest): Refusal | undefined =>
  request.method === 'BYE' ? undefined : refuseUnknown(request, dialogExtensions)

const refuseUnknown = (request: SipRequest, known: ReadonlySet<string>): Refusal | undefined => {
  const unknown = headersOf(request, 'require').filter((name) => !known.has(name.toLowerCase()))
  if (unknown.length === 0) return undefined
  return { status: 420, headers: unknown.map((name): Header => ['unsupported', name]) }
}

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
  longEnoughSession,
]
