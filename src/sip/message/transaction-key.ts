import { cseqOf, tagOf, topVia } from './headers.ts'
import { headerOf, type SipRequest, type SipResponse } from './message.ts'

const magicCookie = 'z9hG4bK'

/** Key of the client transaction that sent a request: branch and method (RFC 3261 17.1.3). */
export const clientKeyOf = (request: SipRequest): string =>
  `${topVia(request)?.parameters.get('branch') ?? ''}|${request.method}`

/** Key of the client transaction of a response; `undefined` if it names none. */
export const clientKeyOfResponse = (response: SipResponse): string | undefined => {
  const branch = topVia(response)?.parameters.get('branch')
  return branch === undefined ? undefined : `${branch}|${cseqOf(response).method}`
}

/**
 * Key of the server transaction of a request (RFC 3261 17.2.3). ACK belongs to its INVITE; for CANCEL the key of
 * the cancelled request's method can be requested. Senders without the magic cookie, or with nothing after it, are
 * matched by the fields of RFC 2543.
 */
export const serverKeyOf = (request: SipRequest, method = methodOf(request)): string => {
  const via = topVia(request)
  const branch = via?.parameters.get('branch') ?? ''
  const sentBy = `${via?.host.toLowerCase() ?? ''}:${via?.port ?? ''}`
  if (branch.startsWith(magicCookie) && branch.length > magicCookie.length)
    return `${branch}|${sentBy}|${method}`
  const dialog = `${headerOf(request, 'call-id') ?? ''}|${tagOf(request, 'from') ?? ''}`
  return `${dialog}|${cseqOf(request).sequence}|${sentBy}|${branch}|${request.uri}|${method}`
}

const methodOf = ({ method }: SipRequest): string => (method === 'ACK' ? 'INVITE' : method)
