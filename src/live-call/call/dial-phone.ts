import { stopReasonOf, type DialableCall } from '../../domains/calls/lifecycle/hand-over.ts'
import type {
  CallLeg,
  Carrier,
  DialFailure,
  DialTrace,
  GatewayTry,
} from '../../telephony/carrier.ts'
import { endingOfFailure, type AttemptEnding, type DialAbort } from './call-ending.ts'
import type { CallPlan } from './live-call-port.ts'
import type { MediaCall } from '../media/media-port.ts'

type DialedPhone = { readonly kind: 'answered'; readonly leg: CallLeg } | AttemptEnding

interface DialWatch {
  /** The gateways that were tried. */
  readonly onTries?: (tries: readonly GatewayTry[]) => void
  readonly trace?: DialTrace
}

/** Decision D3: a phone rings for at most a minute. */
const maxRingTimeoutMs = 60_000
/** Time for CANCEL and 487 after the carrier's own ring timeout, before we give the attempt up. */
const ringGraceMs = 2_000

/**
 * Rings one phone once. The engine opens meanwhile; if it cannot, the phone stops ringing. Our own limit ends a
 * ring that the carrier does not end.
 */
export const dialPhone = async (
  carrier: Carrier,
  call: DialableCall,
  plan: CallPlan,
  media: MediaCall,
  ringLimitMs: number,
  signal: AbortSignal,
  { onTries, trace }: DialWatch = {},
): Promise<DialedPhone> => {
  const ringTimeoutMs = Math.min(ringLimitMs, maxRingTimeoutMs)
  const stop = new AbortController()
  let abort: DialAbort | undefined
  const stopBecause = (reason: DialAbort): void => {
    abort ??= reason
    stop.abort(abort.kind)
  }
  const onAbort = (): void => stopBecause({ kind: stopReasonOf(signal) })
  const guard = setTimeout(() => stopBecause({ kind: 'ring_timeout' }), ringTimeoutMs + ringGraceMs)
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  media.onEvent((event) => {
    if (event.type === 'breakdown') stopBecause({ kind: 'breakdown', reason: event.reason })
  })
  try {
    const outcome = await carrier.dial(
      {
        callId: call.callId,
        to: call.phoneNumber,
        callerId: plan.callerId,
        ringTimeoutMs,
        localMedia: media.localMedia,
        mayInvite: () => call.mayInvite(),
        ...(call.trunk !== undefined && { trunk: call.trunk }),
        ...(call.nextTrunk !== undefined && { nextTrunk: call.nextTrunk }),
        ...(trace !== undefined && { trace }),
      },
      stop.signal,
    )
    if (outcome.tries !== undefined) onTries?.(outcome.tries)
    if (outcome.kind === 'failed') return endingOfFailure(outcome.failure, abort)
    if (abort === undefined) return outcome
    await outcome.leg.hangUp()
    return endingOfFailure(crossedAnswer, abort)
  } finally {
    clearTimeout(guard)
    signal.removeEventListener('abort', onAbort)
  }
}

/** The answer came at the same moment as our own decision to stop. */
const crossedAnswer: DialFailure = {
  cause: 'cancelled',
  reason: 'The call was answered while it was being cancelled.',
  rang: true,
  invited: true,
}
