import type { Carrier, DialFailure, DialOutcome, DialRequest, GatewayTry } from '../carrier.ts'
import { heldBack } from '../circuit-carrier.ts'

/** One address of a trunk, with its circuit. */
export interface Gateway {
  readonly uri: string
  readonly carrier: Carrier
  /** Undefined: it can be tried. */
  downReason(): string | undefined
}

interface FailoverOptions {
  /** The gateways of a trunk in their order; empty: the trunk is gone. */
  gatewaysOf(trunk: string): readonly Gateway[]
  readonly now: () => Date
  readonly monotonicMs: () => number
}

/** D16: no further gateway is tried after this time, nor after so many. */
const budgetMs = 12_000
const maxTries = 3

/**
 * Dials by the trunk of the request. The next gateway, of the same trunk and then of the next one, is tried only while
 * no phone can have rung: after an INVITE without any response it may have (D3), after a 18x it has.
 */
export const createFailoverCarrier = (options: FailoverOptions): Carrier => ({
  dial: (request, signal) => new Attempt(options, request).run(signal),
})

class Attempt {
  readonly #options: FailoverOptions
  readonly #request: DialRequest
  readonly #tries: GatewayTry[] = []
  readonly #startedMs: number
  readonly #triedTrunks: string[] = []
  #hopeful: DialFailure | undefined
  #last: DialFailure | undefined

  constructor(options: FailoverOptions, request: DialRequest) {
    this.#options = options
    this.#request = request
    this.#startedMs = options.monotonicMs()
  }

  async run(signal: AbortSignal): Promise<DialOutcome> {
    let trunk = this.#request.trunk
    while (trunk !== undefined && !this.#triedTrunks.includes(trunk)) {
      this.#triedTrunks.push(trunk)
      const ended = await this.#tryTrunk(trunk, signal)
      if (ended !== undefined) return { ...ended, tries: this.#tries }
      trunk = this.#isOver() ? undefined : await this.#request.nextTrunk?.(this.#triedTrunks)
    }
    return { kind: 'failed', failure: this.#failure(), tries: this.#tries }
  }

  /** Undefined: each of its gateways failed before a phone could ring. */
  async #tryTrunk(trunk: string, signal: AbortSignal): Promise<DialOutcome | undefined> {
    for (const gateway of this.#options.gatewaysOf(trunk)) {
      if (this.#isOver()) return undefined
      const down = gateway.downReason()
      if (down !== undefined) {
        this.#fail(heldBack(down))
        continue
      }
      const outcome = await this.#tryGateway(trunk, gateway, signal)
      if (outcome.kind === 'answered') return outcome
      this.#fail(outcome.failure)
      if (signal.aborted || !mayTryNext(outcome.failure)) return outcome
    }
    return undefined
  }

  async #tryGateway(trunk: string, gateway: Gateway, signal: AbortSignal): Promise<DialOutcome> {
    const startedAt = this.#options.now()
    const outcome = await gateway.carrier.dial(this.#request, signal)
    const failure = outcome.kind === 'failed' ? outcome.failure : undefined
    this.#tries.push({
      trunk,
      gateway: gateway.uri,
      startedAt,
      endedAt: this.#options.now(),
      ...(failure === undefined ? { sipStatus: 200 } : {}),
      ...(failure?.sipStatus === undefined ? {} : { sipStatus: failure.sipStatus }),
      reason: failure?.reason ?? 'SIP 200 OK: the call was answered.',
      invited: failure?.invited ?? true,
      rang: failure?.rang ?? true,
    })
    return outcome
  }

  #isOver(): boolean {
    const elapsedMs = this.#options.monotonicMs() - this.#startedMs
    return this.#tries.length >= maxTries || elapsedMs >= budgetMs
  }

  #fail(failure: DialFailure): void {
    this.#last = failure
    if (sendsBack(failure)) this.#hopeful ??= failure
  }

  /** An answer about the number stands; a server's error does not, where another gateway may be back soon. */
  #failure(): DialFailure {
    const last = this.#last ?? heldBack('The trunk of the call was removed or changed.')
    return last.cause === 'rejected' || last.cause === 'congestion' || last.cause === 'no_route'
      ? (this.#hopeful ?? last)
      : last
  }
}

/** Final responses of servers that could not carry the call, before any 18x (D16). */
const technicalStatuses: ReadonlySet<number> = new Set([408, 500, 502, 503, 504])

const mayTryNext = ({ cause, rang, invited, sipStatus }: DialFailure): boolean => {
  if (rang) return false
  if (cause === 'no_route') return !invited
  if (cause === 'authentication') return sipStatus !== 403
  return cause !== 'cancelled' && sipStatus !== undefined && technicalStatuses.has(sipStatus)
}

const sendsBack = ({ cause, rang, invited }: DialFailure): boolean =>
  !rang &&
  (cause === 'congestion' || cause === 'authentication' || (cause === 'no_route' && !invited))
