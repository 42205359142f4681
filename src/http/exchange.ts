import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { latestVersion, type ServiceVersion } from '../contract/versions.ts'
import type { RequestHead } from './connections/request-head.ts'
import type { Allowance } from './steps/rate-limit.ts'
import { readRequestId } from './steps/request-id.ts'
import type { OrganizationId } from '../contract/organization-id.ts'
import type { Principal } from '../contract/principal.ts'
import type { Target } from './router.ts'

/**
 * A request's head on its way through the kernel, with the findings of the steps so far, which every response
 * contains.
 */
export interface Arrival {
  readonly head: RequestHead
  readonly socket: Socket
  readonly requestId: string
  /** The applied version, or the best guess while it is not settled. */
  version: ServiceVersion
  /** For logs and metrics. */
  operation: string | undefined
  organizationId: OrganizationId | undefined
  /** Undefined until it is known who asks, and where the request leads. */
  principal: Principal | undefined
  target: Target | undefined
  /** The parsed body, once it was read. */
  body: unknown
  bodyBytes: number
  /** Whether it has an Idempotency-Key. */
  isClaimed: boolean
}

/** A request whose body can be read, and whose response goes over Node's response. */
export interface Exchange extends Arrival {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Present once the request was metered. */
  allowance: Allowance | undefined
}

export const openArrival = (head: RequestHead, socket: Socket): Arrival => ({
  head,
  socket,
  requestId: readRequestId(head),
  version: latestVersion,
  operation: undefined,
  organizationId: undefined,
  principal: undefined,
  target: undefined,
  body: undefined,
  bodyBytes: 0,
  isClaimed: false,
})

export const openExchange = (request: IncomingMessage, response: ServerResponse): Exchange => ({
  head: request,
  socket: request.socket,
  requestId: readRequestId(request),
  version: latestVersion,
  operation: undefined,
  organizationId: undefined,
  principal: undefined,
  target: undefined,
  body: undefined,
  bodyBytes: 0,
  isClaimed: false,
  request,
  response,
  allowance: undefined,
})
