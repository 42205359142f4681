import { splitOutsideQuotes } from '../message/header-syntax.ts'
import { headerOf, type Header, type SipRequest } from '../message/message.ts'
import { isSameHost, parseVia, type Via } from '../message/headers.ts'
import type { Source, Transport } from './transport.ts'

/**
 * The request with `received` and `rport` filled into its top Via (RFC 3261 18.2.1, RFC 3581 4), so that our
 * response carries them back.
 */
export const stampTopVia = (request: SipRequest, source: Source): SipRequest => {
  const value = headerOf(request, 'via') ?? ''
  const via = parseVia(value)
  if (via === undefined) return request
  const stamped = stamp(value, via, source)
  if (stamped === value) return request
  const at = request.headers.findIndex(([name]) => name === 'via')
  return { ...request, headers: request.headers.with(at, ['via', stamped] satisfies Header) }
}

const stamp = (value: string, via: Via, source: Source): string => {
  const asksForPort = via.parameters.has('rport')
  const kept = splitOutsideQuotes(value, ';').filter(isOfSender).join(';')
  if (asksForPort) return `${kept};rport=${source.port};received=${source.address}`
  return isSameHost(via.host, source.address) ? value : `${kept};received=${source.address}`
}

/** Whether a part of a Via stays: we fill in `received` and `rport`, whatever its sender wrote there. */
const isOfSender = (part: string): boolean => {
  const name = part.split('=', 1)[0]?.trim().toLowerCase()
  return name !== 'received' && name !== 'rport'
}

/**
 * Sends responses as RFC 3261 18.2.2 requires: on a stream over the connection of the request, and if that is gone
 * over a new one to the sent-by port; on UDP to the source port if the sender asked for it, else to the sent-by
 * port.
 */
export const createResponseSender = (
  request: SipRequest,
  source: Source,
  transport: Transport,
): ((bytes: Buffer) => Promise<void>) => {
  const via = parseVia(headerOf(request, 'via') ?? '')
  const sentByPort = via?.port ?? (source.protocol === 'tls' ? 5061 : 5060)
  const sentBy = { protocol: source.protocol, address: source.address, port: sentByPort }
  if (source.protocol !== 'udp') {
    return (bytes) => source.reply(bytes).catch(() => transport.send(bytes, sentBy))
  }
  const asksForPort = via?.parameters.has('rport') ?? false
  return asksForPort ? (bytes) => source.reply(bytes) : (bytes) => transport.send(bytes, sentBy)
}
