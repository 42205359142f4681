import type { G711Codec } from '../audio/g711.ts'
import type { Logger } from '../runtime/logger.ts'
import { createDigestPolicy, type DigestPolicy } from '../sip/digest/digest-policy.ts'
import type { SipResponse } from '../sip/message/message.ts'
import { createMediaNegotiator, type MediaNegotiator } from '../sdp/sdp.ts'
import type { Destination } from '../sip/message/destination.ts'
import { hostPort } from '../sip/message/uri.ts'
import {
  dialledNumber,
  fromUri,
  shapeHeaders,
  type InviteShape,
  type NationalDigits,
  type NumberFormat,
} from './trunks/invite-shape.ts'
import type { InviteResult, UserAgent } from '../sip/user-agent/user-agent-types.ts'
import type { Dialog } from '../sip/dialog/dialog.ts'
import type {
  Carrier,
  DialFailure,
  DialOutcome,
  DialProgress,
  DialRequest,
  MediaAddress,
} from './carrier.ts'
import { GatewayHearing } from './gateway-hearing.ts'
import type { MediaSourceRule } from './media-sources.ts'
import { resolveMedia } from './resolve-media.ts'
import { failedDial, mediaMismatch, provesCredentials } from './sip-carrier-failures.ts'
import { createSipCallLeg, type TransferSettings } from './sip-carrier-leg.ts'
import { traceDial } from './trace/trace-dial.ts'
import { isLocalTrunk, trunkTarget, type Trunk } from './trunk-uri.ts'

export interface SipCarrierOptions {
  readonly userAgent: UserAgent
  readonly trunk: Trunk
  /** How the trunk wants numbers and identities written; by default E.164 in From and Request-URI. */
  readonly shape?: InviteShape
  readonly numberFormat?: NumberFormat
  readonly national?: NationalDigits
  /** URIs that requests go through, the first hop first (RFC 3261 8.1.1.1). */
  readonly routes?: () => readonly string[]
  /** Our codecs, best first. */
  readonly codecs?: readonly G711Codec[]
  /** The only realm that the password is for. */
  readonly realm?: string
  /** Address put into SDP, behind a 1:1 NAT; by default the address of our RTP socket. */
  readonly publicAddress?: string
  /** How long the trunk may take to send any response before it counts as unreachable. */
  readonly responseTimeoutMs?: number
  /** Every known address of the trunk: its media may come from them when it is behind a NAT. */
  readonly trunkAddresses?: () => readonly string[]
  /**
   * Whether an address and port belong to the trunk, so that its credentials may go there; by default only the
   * first hop.
   */
  readonly belongsToTrunk?: (destination: Destination) => boolean
  /** Sends our call id as `X-Outdial-Call-Id`: for the sandbox, never to a foreign network. */
  readonly sendsCallId?: boolean
  readonly logger: Logger
}

/** Whether the trunk responds to OPTIONS: any final response counts, because many refuse the method. */
export type TrunkHealth =
  | { readonly isAlive: true; readonly sipStatus: number; readonly roundTripMs: number }
  /** `isRefused`: nothing listens at the address. `reason`: why else the request could not be delivered. */
  | { readonly isAlive: false; readonly isRefused?: true; readonly reason?: string }

export interface SipCarrier extends Carrier {
  ping(timeoutMs?: number): Promise<TrunkHealth>
}

/** An ICMP message or a reset: the address exists, and nothing listens at the port. */
const isRefusal = (error: Error | undefined): boolean =>
  error?.message.includes('ECONNREFUSED') ?? false

const defaultResponseTimeoutMs = 10_000
const defaultPingTimeoutMs = 4000

/** Reaches phones through one SIP trunk. It also dials the sandbox carrier. */
export const createSipCarrier = (options: SipCarrierOptions): SipCarrier => {
  const { trunk, belongsToTrunk, logger } = options
  const digestPolicy = createDigestPolicy({
    ...(trunk.auth === undefined ? {} : { weakest: trunk.auth }),
    ...(belongsToTrunk === undefined ? {} : { belongsToTrunk }),
    ...(options.realm === undefined ? {} : { realm: options.realm }),
    warnsOfMd5: trunk.auth === undefined && !isLocalTrunk(trunk),
    logger,
  })
  let areCredentialsProven = false
  const hearing = new GatewayHearing()
  return {
    dial: async (request, signal) => {
      const unreachable = await findObstacle(options, hearing)
      if (unreachable !== undefined) return { kind: 'failed', failure: unreachable }
      const address = await mediaAddress(options, request.localMedia)
      const negotiator = createMediaNegotiator({
        local: { address, port: request.localMedia.port },
        ...(options.trunk.srtp !== undefined && { srtp: options.trunk.srtp }),
        ...(options.codecs !== undefined && { codecs: options.codecs }),
      })
      const result = await invite(
        { ...options, digestPolicy, hearing },
        request,
        negotiator,
        signal,
      )
      // A phone that rang or answered is proof enough, whether or not its INVITE was challenged.
      areCredentialsProven ||= provesCredentials(result) || mayHaveRung(result)
      const attempt = { options, negotiator, request, signal, areCredentialsProven }
      const outcome = await outcomeOf(result, attempt)
      options.logger.debug({ call_id: request.callId, ...summary(outcome) }, 'dial ended')
      return outcome
    },
    ping: (timeoutMs = defaultPingTimeoutMs) => ping(options, hearing, timeoutMs),
  }
}

const ping = async (
  options: SipCarrierOptions,
  hearing: GatewayHearing,
  timeoutMs: number,
): Promise<TrunkHealth> => {
  const startedMs = performance.now()
  let error: Error | undefined
  const response = await options.userAgent.ping(
    options.routes?.()[0] ?? trunkTarget(options.trunk),
    timeoutMs,
    (reason) => (error = reason),
  )
  if (response === undefined)
    return {
      isAlive: false,
      ...(isRefusal(error) ? { isRefused: true } : error && { reason: error.message }),
    }
  hearing.answered()
  const roundTripMs = performance.now() - startedMs
  return { isAlive: true, sipStatus: response.status, roundTripMs }
}

/** A connection, and a name's address, must be there within this time; an INVITE has not left until then. */
const connectLimitMs = 4_000
const askLimitMs = 2_000

/** Why no INVITE would arrive; undefined: it is sent. */
const findObstacle = async (
  options: SipCarrierOptions,
  hearing: GatewayHearing,
): Promise<DialFailure | undefined> => {
  const target = options.routes?.()[0] ?? trunkTarget(options.trunk)
  const limit = Promise.withResolvers<string>()
  const timer = setTimeout(() => {
    limit.resolve(`no connection within ${connectLimitMs / 1000} seconds`)
  }, connectLimitMs)
  const reached = options.userAgent.localHostFor(target).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
  const obstacle = await Promise.race([reached, limit.promise])
  clearTimeout(timer)
  if (obstacle !== undefined) return unreachable(obstacle)
  if (options.trunk.transport !== 'udp' || !hearing.isDoubtful()) return undefined
  const isAlive = await hearing.ask(async () => (await ping(options, hearing, askLimitMs)).isAlive)
  return isAlive ? undefined : unreachable('it does not answer OPTIONS any more')
}

const unreachable = (reason: string): DialFailure =>
  failedDial({ kind: 'unreachable', reason, rang: false, invited: false }, 0)

/** A wildcard address in an offer would mean "on hold", so it is replaced by our address towards the trunk. */
export const mediaAddress = async (
  { publicAddress, trunk, userAgent }: SipCarrierOptions,
  { address }: MediaAddress,
): Promise<string> => {
  if (publicAddress !== undefined) return publicAddress
  if (address !== '0.0.0.0' && address !== '::') return address
  return userAgent.localHostFor(trunkTarget(trunk)).catch(() => address)
}

type InviteSettings = SipCarrierOptions & {
  readonly digestPolicy: DigestPolicy
  readonly hearing: GatewayHearing
}

const invite = async (
  options: InviteSettings,
  request: DialRequest,
  negotiator: MediaNegotiator,
  signal: AbortSignal,
): Promise<InviteResult> => {
  const { userAgent, trunk, responseTimeoutMs, sendsCallId, digestPolicy, hearing } = options
  const routes = options.routes?.() ?? []
  const reportProgress = createProgressReporter(request)
  const sent = hearing.expect()
  const result = await userAgent.invite(
    {
      target: targetOf(options, request.to),
      from: callerUri(options, request),
      ...(routes.length > 0 && { routes }),
      offer: negotiator.offer(),
      onEarlyOffer: (offer) => negotiator.answer(offer)?.sdp,
      ringTimeoutMs: request.ringTimeoutMs,
      responseTimeoutMs: responseTimeoutMs ?? defaultResponseTimeoutMs,
      maySend: () => {
        const mayInvite = request.mayInvite()
        if (mayInvite) sent.leaves()
        return mayInvite
      },
      onProvisional: (response) => {
        sent.heard()
        reportProgress(response)
      },
      ...(request.trace !== undefined && { trace: traceDial(request.trace) }),
      digestPolicy,
      ...(trunk.redirectTo === undefined ? {} : { redirectHosts: trunk.redirectTo }),
      ...(trunk.credentials === undefined ? {} : { credentials: trunk.credentials }),
      headers: {
        ...(options.shape &&
          Object.fromEntries(shapeHeaders(options.shape, identityOf(options, request)))),
        ...(sendsCallId === true && { 'X-Outdial-Call-Id': request.callId }),
      },
    },
    signal,
  )
  if (result.kind === 'refused' || mayHaveRung(result)) sent.heard()
  else sent.forget()
  return result
}

const noShape: InviteShape = { identity: 'none', privacy: 'none', headers: [] }
const plus: NumberFormat = { kind: 'plus' }

const identityOf = ({ trunk, numberFormat }: SipCarrierOptions, { callerId }: DialRequest) => ({
  callerId,
  domain: hostPort(trunk.host),
  format: numberFormat ?? plus,
})

const callerUri = (options: SipCarrierOptions, request: DialRequest): string =>
  fromUri(options.shape ?? noShape, identityOf(options, request))

/** The Request-URI of a number, E.164, in the trunk's format. */
export const targetOf = (
  { trunk, numberFormat, national }: SipCarrierOptions,
  number: string,
): string =>
  trunkTarget(
    trunk,
    dialledNumber(numberFormat ?? plus, number, national ?? (() => undefined)).replaceAll(
      '#',
      '%23',
    ),
  )

const transferSettings = (options: SipCarrierOptions, request: DialRequest): TransferSettings => ({
  targetOf: (to) => (to.startsWith('+') ? targetOf(options, to) : to),
  referredBy: callerUri(options, request),
})

/** Reports each kind of progress once. */
const createProgressReporter = (request: DialRequest): ((response: SipResponse) => void) => {
  const told = new Set<DialProgress['kind']>()
  return (response) => {
    const kind = progressOf(response)
    if (kind === undefined || told.has(kind)) return
    told.add(kind)
    request.onProgress?.({ kind })
  }
}

const progressOf = ({ status, body }: SipResponse): DialProgress['kind'] | undefined => {
  if (status === 100) return 'trying'
  if (status < 180 || status > 189) return undefined
  return body.length > 0 ? 'early_media' : 'ringing'
}

interface Attempt {
  readonly options: SipCarrierOptions
  readonly negotiator: MediaNegotiator
  readonly request: DialRequest
  readonly signal: AbortSignal
  readonly areCredentialsProven: boolean
}

const mayHaveRung = (result: InviteResult): boolean =>
  result.kind === 'answered' || (result.kind !== 'not_sent' && result.rang)

const outcomeOf = async (result: InviteResult, attempt: Attempt): Promise<DialOutcome> =>
  result.kind === 'answered'
    ? answered(result.dialog, attempt)
    : {
        kind: 'failed',
        failure: failedDial(result, attempt.request.ringTimeoutMs, attempt.areCredentialsProven),
      }

const answered = async (
  dialog: Dialog,
  { options, negotiator, request, signal }: Attempt,
): Promise<DialOutcome> => {
  const accepted = negotiator.acceptAnswer(dialog.remoteSdp)
  const media = accepted && ((await resolveMedia(accepted)) ?? accepted)
  // Aborted between the answer and this point: `dial` promises that no callee stays connected.
  if (signal.aborted || media === undefined) await dialog.bye()
  if (signal.aborted)
    return {
      kind: 'failed',
      failure: failedDial({ kind: 'cancelled', rang: true, invited: true }, 0),
    }
  if (media === undefined)
    return { kind: 'failed', failure: mediaMismatch(dialog.remoteSdp, options.trunk.srtp) }
  const transfers = transferSettings(options, request)
  const sources = mediaSourceRule(options, dialog)
  return {
    kind: 'answered',
    leg: createSipCallLeg(dialog, negotiator, media, {
      transfers,
      sources,
      dtmf: options.trunk.dtmf,
      onRefused: (reason) =>
        options.logger.warn({ call_id: request.callId, reason }, 'an offer in a call was refused'),
    }),
  }
}

export const mediaSourceRule = (
  { trunk, trunkAddresses }: SipCarrierOptions,
  { firstHop }: Dialog,
): MediaSourceRule => ({
  media: trunk.media ?? 'declared',
  signalling: [...(firstHop === undefined ? [] : [firstHop]), ...(trunkAddresses?.() ?? [])],
})

const summary = (outcome: DialOutcome): object =>
  outcome.kind === 'answered'
    ? { outcome: 'answered' }
    : { outcome: outcome.failure.cause, sip_status: outcome.failure.sipStatus }
