import type { IncomingMessage, ServerResponse } from 'node:http'
import { latestVersion, type ServiceVersion } from '../contract/versions.ts'
import type { Allowance } from './steps/rate-limit.ts'
import { readRequestId } from './steps/request-id.ts'

/** One request on its way through the kernel, with what the steps found out so far: every answer tells it. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  /** The applied version, or the best guess while it is not settled. */
  version: ServiceVersion
  /** Present once the request was metered. */
  allowance?: Allowance
  /** For logs and metrics. */
  operation?: string
  organizationId?: string
}

export const openExchange = (request: IncomingMessage, response: ServerResponse): Exchange => ({
  request,
  response,
  requestId: readRequestId(request),
  version: latestVersion,
})
