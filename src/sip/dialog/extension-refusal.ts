import { headersOf, type Header, type SipRequest } from '../message/message.ts'

/** Why a request is refused, as status and headers of its response. */
export interface Refusal {
  readonly status: number
  readonly headers: readonly Header[]
}

// As callee we send no reliable provisional responses, so a caller may not require them.
const calleeExtensions = new Set(['timer', 'replaces'])

// Inside a dialog, every request gets its final response at once, so 100rel does not apply.
const dialogExtensions = new Set([...calleeExtensions, '100rel'])

/** Refuses a request outside of dialogs that requires an extension we lack (RFC 3261 8.2.2.3). */
export const calleeExtensionRefusalOf = (request: SipRequest): Refusal | undefined =>
  refuseUnknown(request, calleeExtensions)

/** The same check for a request inside a dialog; never for a BYE, because its sender is gone. */
export const extensionRefusalOf = (request: SipRequest): Refusal | undefined =>
  request.method === 'BYE' ? undefined : refuseUnknown(request, dialogExtensions)

const refuseUnknown = (request: SipRequest, known: ReadonlySet<string>): Refusal | undefined => {
  const unknown = headersOf(request, 'require').filter((name) => !known.has(name.toLowerCase()))
  if (unknown.length === 0) return undefined
  return { status: 420, headers: unknown.map((name): Header => ['unsupported', name]) }
}
