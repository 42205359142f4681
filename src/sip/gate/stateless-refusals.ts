import { createHmac, randomBytes } from 'node:crypto'
import type { DropCounter } from './drop-counter.ts'
import { topVia } from '../message/headers.ts'
import { serializeMessage, type SipRequest } from '../message/message.ts'
import { createResponseSender } from '../transport/response-routing.ts'
import { createResponse, type ResponseOptions } from '../message/responses.ts'
import type { SourceLimiter } from './source-limiter.ts'
import { serverKeyOf } from '../message/transaction-key.ts'
import type { Source, Transport } from '../transport/transport.ts'
import type { TransportProtocol } from '../message/destination.ts'

/** Responds to one request once, without a transaction (RFC 3261 8.2.7). */
export type RefuseStatelessly = (
  request: SipRequest,
  source: Source,
  status: number,
  more: Pick<ResponseOptions, 'reason' | 'headers'>,
) => void

/**
 * Final responses outside of dialogs and transactions: a flood of requests costs no memory, causes no repetition,
 * and gets no more responses than `answers` admits. An ACK never gets one.
 */
export const createStatelessRefusals = (options: {
  readonly transportOf: (protocol: TransportProtocol) => Transport
  readonly answers: SourceLimiter
  readonly drops: DropCounter
}): RefuseStatelessly => {
  const secret = randomBytes(32)
  // The same for each copy of a request, because nothing about it is stored.
  const tagFor = (request: SipRequest): string =>
    createHmac('sha256', secret).update(serverKeyOf(request)).digest('hex').slice(0, 16)
  return (request, source, status, more) => {
    if (request.method === 'ACK' || topVia(request) === undefined) return
    const { address } = source
    if (!options.answers.admits(address)) return options.drops.count('over_rate', address)
    const send = createResponseSender(request, source, options.transportOf(source.protocol))
    const response = createResponse(request, status, { ...more, toTag: tagFor(request) })
    send(serializeMessage(response)).catch(() => {})
  }
}
