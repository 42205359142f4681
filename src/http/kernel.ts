import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { AnsweredRequest, KeepRequest } from '../contract/answered-request.ts'
import { ApiError } from '../contract/api-error.ts'
import { hasBody } from '../contract/define-operation.ts'
import type { Authenticator, Principal, RequestCredentials, Visit } from '../contract/principal.ts'
import type { Database } from '../database/database.ts'
import { isRetryable, ListCutError } from '../database/errors.ts'
import type { OrganizationId } from '../contract/organization-id.ts'
import type { Clock } from '../runtime/time.ts'
import type { Logger } from '../runtime/logger.ts'
import { clientAddress, type IsTrusted } from './connections/client-address.ts'
import { checkResponse } from './check-response.ts'
import type { Cursors } from './cursors.ts'
import { openArrival, openExchange, type Arrival, type Exchange } from './exchange.ts'
import {
  cutReply,
  errorReply,
  faultReply,
  sendReply,
  unavailableReply,
  type Headers,
  type Reply,
} from './reply.ts'
import { soleHeader, type RequestHead } from './connections/request-head.ts'
import { splitTarget } from './request-target.ts'
import type { Router, Target } from './router.ts'
import { administratorOnly, requireAccess, requireEnabledOrganization } from './steps/access.ts'
import type { AnonymousGuard } from './steps/anonymous-guard.ts'
import { requireJson } from './steps/content-type.ts'
import { claimKeyOf, readIdempotencyKey } from './steps/idempotency-key.ts'
import type { OnceResponse } from './steps/idempotency.ts'
import { parseJson } from './steps/parse-json.ts'
import { meter, requireAllowance, type RateWindows } from './steps/rate-limit.ts'
import { readBody, releaseBody } from './steps/read-body.ts'
import { requireHost } from './steps/host.ts'
import {
  runOperation,
  type AnyHandler,
  type Present,
  type StorageGuard,
} from './steps/run-operation.ts'
import { validate } from './steps/validate.ts'
import { readVersion } from './steps/version.ts'

/** A served request, for logs and metrics. Contains nothing from the client but the request id. */
export interface ServedRequest {
  readonly requestId: string
  readonly method: string
  /** Undefined if the request led to no operation. */
  readonly operation: string | undefined
  readonly organizationId: OrganizationId | undefined
  readonly status: number
  readonly durationMs: number
}

interface KernelParts {
  readonly router: Router
  readonly handlers: Readonly<Record<string, AnyHandler>>
  readonly handlerParts: unknown
  readonly database: Database
  readonly authenticate: Authenticator
  readonly rateWindows: RateWindows
  readonly guardAnonymous: AnonymousGuard
  /** Proxies whose word for a client's address counts. */
  readonly isTrustedProxy: IsTrusted
  readonly cursors: Cursors
  readonly storage: StorageGuard
  readonly present: Present
  /** Of every answer, as names and values in turn. */
  readonly furtherHeaders: () => readonly string[]
  readonly clock: Clock
  readonly logger: Logger
  /** Its responses close their connections, so that clients reconnect to another node. */
  readonly isDraining: () => boolean
  /** Checks every 2xx against its schema: for tests and development. */
  readonly checkResponses: boolean
  readonly onServed: (served: ServedRequest) => void
  /** Is told of every request of a key, once it is answered. */
  readonly keepRequest: KeepRequest | undefined
}

export interface Kernel {
  /**
   * One request to one response. The steps are in the order of D9; the first that throws decides. Never rejects.
   */
  serve(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Responds to a request that cannot be served, and closes its connection. */
  refuse(request: IncomingMessage, response: ServerResponse, fault: ApiError): void
  /** The error for a head that Node's parser refused: the first failing step's, else `otherwise`. */
  turnAway(head: RequestHead, socket: Socket, otherwise: ApiError): Promise<TurnedAway>
}

export interface TurnedAway extends Pick<Arrival, 'requestId' | 'version'> {
  readonly reply: Reply
}

export const createKernel = (parts: KernelParts): Kernel => ({
  async serve(request, response) {
    const { clock, isDraining } = parts
    const startedMs = clock.monotonicMs()
    const exchange = openExchange(request, response)
    const reply = await answer(exchange, parts).catch((error: unknown) =>
      refuse(exchange, error, parts),
    )
    releaseBody(request)
    finish(exchange, reply, isDraining(), startedMs, parts)
  },
  refuse(request, response, fault) {
    const exchange = openExchange(request, response)
    const reply = refuse(exchange, fault, parts)
    finish(exchange, reply, true, parts.clock.monotonicMs(), parts)
  },
  async turnAway(head, socket, otherwise) {
    const arrival = openArrival(head, socket)
    const error = await admit(arrival, parts).then(
      () => otherwise,
      (reason: unknown) => reason,
    )
    const reply = refuse(arrival, error, parts)
    keep(arrival, reply, { isAllowed: false, durationMs: 0 }, parts)
    return { ...arrival, reply }
  },
})

const finish = (
  exchange: Exchange,
  reply: Reply,
  isLast: boolean,
  startedMs: number,
  parts: KernelParts,
): void => {
  const { clock, onServed, furtherHeaders } = parts
  sendReply(exchange, reply, isLast, furtherHeaders())
  const durationMs = clock.monotonicMs() - startedMs
  const { allowance } = exchange
  const isAllowed = allowance !== undefined && allowance.remaining >= 0
  keep(exchange, reply, { isAllowed, durationMs }, parts)
  onServed({
    requestId: exchange.requestId,
    method: exchange.request.method ?? '',
    operation: exchange.operation,
    organizationId: exchange.organizationId,
    status: reply.status,
    durationMs,
  })
}

/** Hands a request of a key on to be kept. */
const keep = (
  arrival: Arrival,
  { status, body, headers }: Reply,
  { isAllowed, durationMs }: Pick<AnsweredRequest, 'isAllowed' | 'durationMs'>,
  { keepRequest }: KernelParts,
): void => {
  const { principal, head, target } = arrival
  if (!keepRequest || principal?.kind !== 'key') return
  const known = target?.kind === 'operation' ? target : undefined
  keepRequest({
    principal,
    requestId: arrival.requestId,
    method: head.method ?? '',
    target: head.url ?? '',
    operation: known?.name,
    template: known?.operation.path,
    params: known?.params ?? noParams,
    status,
    durationMs,
    isAllowed,
    isClaimed: arrival.isClaimed,
    isReplay: headers['Idempotent-Replayed'] !== undefined,
    body: arrival.body,
    bodyBytes: arrival.bodyBytes,
    answer: body,
    location: headers['Location'],
  })
}

const noParams = {}

/** Who sent this, and where it leads. */
interface Admission {
  readonly principal: Principal
  readonly target: Target
  readonly query: string
}

const admit = async (arrival: Arrival, parts: KernelParts): Promise<Admission> => {
  const { head } = arrival
  requireHost(head)
  const found = parts.authenticate(credentialsOf(arrival, parts))
  const principal = found instanceof Promise ? await found : found
  arrival.organizationId = principal.organizationId
  arrival.principal = principal
  arrival.version = principal.defaultVersion
  requireEnabledOrganization(principal)
  const { path, query } = splitTarget(head.url ?? '')
  const target = parts.router.find(head.method ?? '', path)
  arrival.target = target
  return { principal, query, target }
}

const credentialsOf = (arrival: Arrival, parts: KernelParts): RequestCredentials => ({
  method: arrival.head.method ?? '',
  connection: arrival.socket,
  header: (name) => soleHeader(arrival.head, name),
  isHeldUp: () => parts.guardAnonymous.isHeldUp(clientOf(arrival, parts)),
})

const answer = async (exchange: Exchange, parts: KernelParts): Promise<Reply> => {
  const { request } = exchange
  const { principal, target, query } = await admit(exchange, parts)
  const client = (): string => clientOf(exchange, parts)
  const metered = meter(principal, target.bucket, parts.rateWindows, client)
  exchange.allowance = metered instanceof Promise ? await metered : metered
  requireAllowance(exchange.allowance)
  exchange.version = readVersion(request, principal.defaultVersion)
  if (target.kind === 'closed') throw administratorOnly()
  exchange.operation = target.name
  requireAccess(principal, target.operation)
  const idempotencyKey = readIdempotencyKey(request, target.operation.idempotency)
  const claimKey = idempotencyKey && claimKeyOf(principal, idempotencyKey)
  exchange.isClaimed = claimKey !== undefined
  const body = hasBody(target.operation.method) ? await readJson(exchange) : undefined
  const raw = { params: target.params, query, body }
  const input = validate(target.operation, raw, principal.organizationId, parts.cursors)
  const { organizationId } = principal
  const { requestId, version } = exchange
  const visit: Visit = { address: client, header: (name) => soleHeader(request, name) }
  const context = {
    organizationId,
    principal,
    visit,
    requestId,
    version,
    parts: parts.handlerParts,
  }
  const handler = handlerOf(target, parts)
  const done = await runOperation(
    { operation: target.operation, handler, input, context, claimKey },
    parts,
  )
  if (parts.checkResponses) checkResponse(target.operation, done)
  return { ...successReply(done), cookie: visit.cookie }
}

const readJson = async (exchange: Exchange): Promise<unknown> => {
  requireJson(exchange.request)
  const bytes = await readBody(exchange)
  exchange.bodyBytes = bytes.length
  exchange.body = parseJson(bytes)
  return exchange.body
}

const handlerOf = (
  { name }: Extract<Target, { kind: 'operation' }>,
  { handlers }: KernelParts,
): AnyHandler => {
  const handler = handlers[name]
  if (!handler) throw new Error(`No handler serves ${name}.`)
  return handler
}

const successReply = ({ status, body, location, isReplay }: OnceResponse): Reply => {
  const headers: Headers = {}
  if (location !== undefined) headers['Location'] = location
  if (isReplay) headers['Idempotent-Replayed'] = 'true'
  return { status, body, headers }
}

const clientOf = ({ head, socket }: Arrival, { isTrustedProxy }: KernelParts): string =>
  clientAddress(head, socket.remoteAddress ?? '', isTrustedProxy)

/** Client errors are sent; a fault is logged once, and the client gets only its request id. */
const refuse = (arrival: Arrival, error: unknown, parts: KernelParts): Reply => {
  const { logger, guardAnonymous } = parts
  const { requestId, operation, organizationId } = arrival
  const fields = { requestId, operation, organizationId }
  if (error instanceof ApiError) {
    if (error.cause !== undefined)
      logger.warn({ ...fields, code: error.code, err: error.cause }, 'request refused')
    const slowed =
      error.status === 401 ? guardAnonymous.refuse(clientOf(arrival, parts)) : undefined
    return errorReply(slowed ?? error, requestId)
  }
  if (isRetryable(error)) {
    logger.warn({ ...fields, err: error }, 'database unavailable')
    return unavailableReply(requestId)
  }
  if (error instanceof ListCutError) {
    logger.error({ ...fields, err: error }, 'a list took too long')
    return cutReply(requestId)
  }
  logger.error({ ...fields, err: error }, 'request failed')
  return faultReply(requestId)
}
