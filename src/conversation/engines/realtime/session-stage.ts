import type { RealtimeLink } from './realtime-link.ts'

/** The next session is opened this long before the last one ends, or in the last tenth of a short one. */
const renewalMarginMs = 120_000
const renewalShare = 0.1
/** No silent moment came, so the sessions are switched in the middle of speech. */
const forcedSwitchShare = 0.25
/** A session that lasted this long was healthy: the next loss starts a new count. */
const steadyAfterMs = 30_000

/** One session of a conversation that may outlive it, and when it must be replaced. */
export class SessionStage {
  /** From 1; the ids of its utterances begin with it. */
  readonly number: number
  readonly link: RealtimeLink
  readonly #startedAt = performance.now()
  readonly #renewAt: number
  readonly #endsAt: number

  /** @param capMs how long until the server ends the session */
  constructor(number: number, link: RealtimeLink, capMs: number) {
    this.number = number
    this.link = link
    const marginMs = Math.min(renewalMarginMs, capMs * renewalShare)
    this.#renewAt = this.#startedAt + capMs - marginMs
    this.#endsAt = this.#startedAt + capMs - marginMs * forcedSwitchShare
  }

  get isSteady(): boolean {
    return performance.now() - this.#startedAt > steadyAfterMs
  }

  /** Whether it is time to open the next session. */
  get isRenewalDue(): boolean {
    return performance.now() >= this.#renewAt
  }

  /** Whether it is too late to wait for a silent moment. */
  get isEnding(): boolean {
    return performance.now() >= this.#endsAt
  }
}
