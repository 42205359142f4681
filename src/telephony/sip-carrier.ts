import type { Logger } from '../runtime/logger.ts'
import { createDigestPolicy, type DigestPolicy } from '../sip/digest/digest-policy.ts'
import type { SipResponse } from '../sip/message/message.ts'
import { createMediaNegotiator, type MediaNegotiator } from '../sdp/sdp.ts'
import type { Destination } from '../sip/message/destination.ts'
import { hostPort } from '../sip/message/uri.ts'
import type { InviteResult, UserAgent } from '../sip/user-agent/user-agent-types.ts'
import type { Dialog } from '../sip/dialog/dialog.ts'
import type { Carrier, DialOutcome, DialProgress, DialRequest, MediaAddress } from './carrier.ts'
import type { MediaSourceRule } from './media-sources.ts'
import { failedDial, mediaMismatch, provesCredentials } from './sip-carrier-failures.ts'
import { createSipCallLeg, type TransferSettings } from './sip-carrier-leg.ts'
import { isLocalTrunk, trunkTarget, type Trunk } from './trunk-uri.ts'

export interface SipCarrierOptions {
  readonly userAgent: UserAgent
  readonly trunk: Trunk
  /** Domain of From; the trunk's host by default. */
  readonly callerDomain?: string
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
  /** `isRefused`: nothing listens at the address. */
  | { readonly isAlive: false; readonly isRefused?: true }

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
    warnsOfMd5: trunk.auth === undefined && !isLocalTrunk(trunk),
    logger,
  })
  let areCredentialsProven = false
  return {
    dial: async (request, signal) => {
      const address = await mediaAddress(options, request.localMedia)
      const negotiator = createMediaNegotiator({
        local: { address, port: request.localMedia.port },
      })
      const result = await invite({ ...options, digestPolicy }, request, negotiator, signal)
      // A phone that rang or answered is proof enough, whether or not its INVITE was challenged.
      areCredentialsProven ||= provesCredentials(result) || mayHaveRung(result)
      const attempt = { options, negotiator, request, signal, areCredentialsProven }
      const outcome = await outcomeOf(result, attempt)
      options.logger.debug({ call_id: request.callId, ...summary(outcome) }, 'dial ended')
      return outcome
    },
    ping: async (timeoutMs = defaultPingTimeoutMs) => {
      const startedMs = performance.now()
      let error: Error | undefined
      const response = await options.userAgent.ping(
        trunkTarget(options.trunk),
        timeoutMs,
        (reason) => (error = reason),
      )
      if (response === undefined)
        return { isAlive: false, ...(isRefusal(error) && { isRefused: true }) }
      const roundTripMs = performance.now() - startedMs
      return { isAlive: true, sipStatus: response.status, roundTripMs }
    },
  }
}

/** A wildcard address in an offer would mean "on hold", so it is replaced by our address towards the trunk. */
const mediaAddress = async (
  { publicAddress, trunk, userAgent }: SipCarrierOptions,
  { address }: MediaAddress,
): Promise<string> => {
  if (publicAddress !== undefined) return publicAddress
  if (address !== '0.0.0.0' && address !== '::') return address
  return userAgent.localHostFor(trunkTarget(trunk)).catch(() => address)
}

type InviteSettings = SipCarrierOptions & { readonly digestPolicy: DigestPolicy }

const invite = (
  { userAgent, trunk, callerDomain, responseTimeoutMs, sendsCallId, digestPolicy }: InviteSettings,
  request: DialRequest,
  negotiator: MediaNegotiator,
  signal: AbortSignal,
): Promise<InviteResult> =>
  userAgent.invite(
    {
      target: trunkTarget(trunk, request.to),
      from: callerUri({ callerDomain, trunk }, request),
      offer: negotiator.offer(),
      onEarlyOffer: (offer) => negotiator.answer(offer)?.sdp,
      ringTimeoutMs: request.ringTimeoutMs,
      responseTimeoutMs: responseTimeoutMs ?? defaultResponseTimeoutMs,
      maySend: () => request.mayInvite(),
      onProvisional: createProgressReporter(request),
      digestPolicy,
      ...(trunk.credentials === undefined ? {} : { credentials: trunk.credentials }),
      ...(sendsCallId === true ? { headers: { 'X-Outdial-Call-Id': request.callId } } : {}),
    },
    signal,
  )

type Caller = Pick<SipCarrierOptions, 'trunk'> & { readonly callerDomain: string | undefined }

const callerUri = ({ callerDomain, trunk }: Caller, { callerId }: DialRequest): string =>
  `sip:${callerId}@${callerDomain ?? hostPort(trunk.host)}`

const transferSettings = (
  { callerDomain, trunk }: SipCarrierOptions,
  request: DialRequest,
): TransferSettings => ({
  targetOf: (to) => (to.startsWith('+') ? trunkTarget(trunk, to) : to),
  referredBy: callerUri({ callerDomain, trunk }, request),
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
  const media = negotiator.acceptAnswer(dialog.remoteSdp)
  // Aborted between the answer and this point: `dial` promises that no callee stays connected.
  if (signal.aborted || media === undefined) await dialog.bye()
  if (signal.aborted)
    return {
      kind: 'failed',
      failure: failedDial({ kind: 'cancelled', rang: true, invited: true }, 0),
    }
  if (media === undefined) return { kind: 'failed', failure: mediaMismatch }
  const transfers = transferSettings(options, request)
  const sources = mediaSourceRule(options, dialog)
  return {
    kind: 'answered',
    leg: createSipCallLeg(dialog, negotiator, media, { transfers, sources }),
  }
}

const mediaSourceRule = (
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
