import type { IncomingMessage, ServerResponse } from 'node:http'
import { ApiError } from '../contract/api-error.ts'
import type { Operation } from '../contract/define-operation.ts'
import type { FindPrincipal, Principal } from '../contract/principal.ts'
import type { Database } from '../database/database.ts'
import { isRetryable } from '../database/errors.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import { checkResponse } from './check-response.ts'
import type { Cursors } from './cursors.ts'
import { openExchange, type Exchange } from './exchange.ts'
import { errorReply, faultReply, sendReply, unavailableReply, type Reply } from './reply.ts'
import { splitTarget } from './request-target.ts'
import type { Router, Target } from './router.ts'
import { authenticate, requireEnabledOrganization } from './steps/authenticate.ts'
import { requireJson } from './steps/content-type.ts'
import { readIdempotencyKey } from './steps/idempotency-key.ts'
import type { OnceAnswer } from './steps/idempotency.ts'
import { parseJson } from './steps/parse-json.ts'
import { meter, requireAllowance, type RateWindows } from './steps/rate-limit.ts'
import { readBody } from './steps/read-body.ts'
import { requireHost } from './steps/host.ts'
import { runOperation, type AnyHandler } from './steps/run-operation.ts'
import { administratorOnly, requireScope } from './steps/scope.ts'
import { validate } from './steps/validate.ts'
import { readVersion } from './steps/version.ts'

/** What a served request was, for logs and metrics. Holds nothing a caller sent but the request id. */
export interface Answered {
  readonly requestId: string
  readonly method: string
  /** Undefined where the request led to no operation. */
  readonly operation: string | undefined
  readonly organizationId: string | undefined
  readonly status: number
  readonly durationMs: number
}

export interface KernelParts {
  readonly router: Router
  readonly handlers: Readonly<Record<string, AnyHandler>>
  readonly database: Database
  readonly findPrincipal: FindPrincipal
  readonly rateWindows: RateWindows
  /** Throws 429 where an address failed to authenticate too often. */
  readonly guardAnonymous: (address: string) => void
  readonly cursors: Cursors
  readonly clock: Clock
  readonly logger: Logger
  readonly isDraining: () => boolean
  /** Holds every 2xx against its schema: for tests and development. */
  readonly checkResponses: boolean
  readonly onAnswered: (answered: Answered) => void
}

export type Kernel = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** One request to one answer. The steps stand in the order of D9; the first that throws decides. Never rejects. */
export const createKernel = (parts: KernelParts): Kernel => {
  const { clock, isDraining } = parts
  return async (request, response) => {
    const startedMs = clock.monotonicMs()
    const exchange = openExchange(request, response)
    const reply = isDraining()
      ? unavailableReply(exchange.requestId)
      : await answer(exchange, parts).catch((error: unknown) => refuse(exchange, error, parts))
    sendReply(exchange, reply, isDraining())
    parts.onAnswered({
      requestId: exchange.requestId,
      method: request.method ?? '',
      operation: exchange.operation,
      organizationId: exchange.organizationId,
      status: reply.status,
      durationMs: clock.monotonicMs() - startedMs,
    })
  }
}

const answer = async (exchange: Exchange, parts: KernelParts): Promise<Reply> => {
  const { request } = exchange
  requireHost(request)
  const principal = await identify(request, parts)
  exchange.organizationId = principal.organizationId
  exchange.version = principal.defaultVersion
  requireEnabledOrganization(principal)
  const { path, query } = splitTarget(request.url ?? '')
  const target = parts.router.find(request.method ?? '', path)
  exchange.allowance = await meter(principal, target.bucket, parts.rateWindows)
  requireAllowance(exchange.allowance)
  exchange.version = readVersion(request, principal.defaultVersion)
  if (target.kind === 'closed') throw administratorOnly()
  exchange.operation = target.name
  requireScope(principal, target.operation.anyScope)
  const idempotencyKey = readIdempotencyKey(request, target.operation.idempotency)
  const body = await readJson(exchange, target.operation)
  const raw = { params: target.params, query, body }
  const input = validate(target.operation, raw, principal.organizationId, parts.cursors)
  const { organizationId, apiKeyId } = principal
  const { requestId, version } = exchange
  const context = { organizationId, apiKeyId, requestId, version }
  const handler = handlerOf(target, parts)
  const done = await runOperation(
    { operation: target.operation, handler, input, context, idempotencyKey },
    parts.database,
    parts.cursors,
  )
  if (parts.checkResponses) checkResponse(target.operation, done)
  return successReply(done)
}

const identify = async (request: IncomingMessage, parts: KernelParts): Promise<Principal> => {
  try {
    return await authenticate(request, parts)
  } catch (error) {
    if (error instanceof ApiError) parts.guardAnonymous(request.socket.remoteAddress ?? '')
    throw error
  }
}

const readJson = async (exchange: Exchange, { method }: Operation): Promise<unknown> => {
  if (method === 'GET') return undefined
  requireJson(exchange.request)
  return parseJson(await readBody(exchange))
}

const handlerOf = (
  { name }: Extract<Target, { kind: 'operation' }>,
  { handlers }: KernelParts,
): AnyHandler => {
  const handler = handlers[name]
  if (!handler) throw new Error(`No handler serves ${name}.`)
  return handler
}

const successReply = ({ status, body, location, isReplay }: OnceAnswer): Reply => ({
  status,
  body,
  headers: {
    ...(location === undefined ? {} : { Location: location }),
    ...(isReplay ? { 'Idempotent-Replayed': 'true' } : {}),
  },
})

/** What the caller is told is told; a fault is logged once, and the caller learns its request id only. */
const refuse = (exchange: Exchange, error: unknown, { logger }: KernelParts): Reply => {
  const { requestId, operation, organizationId } = exchange
  const fields = { requestId, operation, organizationId }
  if (error instanceof ApiError) {
    if (error.cause !== undefined)
      logger.warn({ ...fields, code: error.code, err: error.cause }, 'request refused')
    return errorReply(error, requestId)
  }
  if (isRetryable(error)) {
    logger.warn({ ...fields, err: error }, 'database unavailable')
    return unavailableReply(requestId)
  }
  logger.error({ ...fields, err: error }, 'request failed')
  return faultReply(requestId)
}
