import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { latestVersion, type ServiceVersion } from '../contract/versions.ts'
import type { RequestHead } from './connections/request-head.ts'
import type { Allowance } from './steps/rate-limit.ts'
import { readRequestId } from './steps/request-id.ts'
import type { OrganizationId } from '../contract/organization-id.ts'

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
})

export const openExchange = (request: IncomingMessage, response: ServerResponse): Exchange => ({
  head: request,
  socket: request.socket,
  requestId: readRequestId(request),
  version: latestVersion,
  operation: undefined,
  organizationId: undefined,
  request,
  response,
  allowance: undefined,
})
