import { stopReasonOf } from '../../domains/calls/lifecycle/hand-over.ts'
import type { PartialTurn, TurnLatency } from '../../conversation/loop/conversation-types.ts'
import { isOnHold, type CallLeg, type LegEnd } from '../../telephony/carrier.ts'
import type { ConversationEnd, TalkFacts } from './call-ending.ts'
import type { MediaCall } from '../media/media-port.ts'
import type { MediaEvent } from '../media/media-protocol.ts'
import type { SpokenTurn } from '../../domains/results/transcript-store.ts'

interface WatchOptions {
  readonly leg: CallLeg
  readonly media: MediaCall
  /** The agent's cap; ends the call whatever the conversation does (decision D3). */
  readonly maxDurationMs: number
  /** How long the callee may hold the line. */
  readonly maxHoldMs: number
  /** Aborts with a `CallStop`. */
  readonly signal: AbortSignal
  onTurn(turn: SpokenTurn): void
  /** The callee holds the line, or took it back. */
  onHold(isHeld: boolean): void
  onOneWayAudio(missing: 'from_callee' | 'to_callee'): void
  /** The agent's words so far, where the media reports them. */
  onWords?(words: PartialTurn | undefined): void
  onLatency?(latency: TurnLatency): void
  /** What both sides hear, where the media passes it on. */
  onSound?(g711: Uint8Array): void
  /** Whom the agent may have the callee connected with. */
  readonly transferTo?: string | undefined
}

export interface ConversationTiming {
  readonly latencies: readonly TurnLatency[]
  /** From the answer to the agent's first sound; `undefined` if it never spoke. */
  readonly firstWordsMs: number | undefined
}

/** More replies than an hour holds; what is beyond is not measured. */
const maxLatencies = 1_000

/**
 * Watches an answered call on behalf of the owner of the SIP dialog: the AI loop may ask for the end, but duration,
 * silence of the media, the other side and our own operator never depend on it.
 */
export class ConversationWatch {
  readonly #options: WatchOptions
  readonly #ended = Promise.withResolvers<ConversationEnd>()
  readonly #cap: NodeJS.Timeout
  readonly #latencies: TurnLatency[] = []
  #facts: TalkFacts = { voicemail: 'none', optedOut: false, isTransferred: false }
  #holdLimit: NodeJS.Timeout | undefined
  #turns = 0
  #firstWordsMs: number | undefined

  constructor(options: WatchOptions) {
    const { leg, media, maxDurationMs, signal } = options
    this.#options = options
    this.#cap = setTimeout(() => this.#end({ kind: 'duration_cap' }), maxDurationMs)
    signal.addEventListener('abort', this.#onAbort)
    if (signal.aborted) this.#onAbort()
    void leg.ended.then((end) => this.#onLegEnded(end))
    leg.onMediaChange((negotiated) => {
      media.updateMedia(negotiated)
      this.#hold(isOnHold(negotiated))
    })
    this.#hold(isOnHold(leg.media))
    leg.onDigit((digit) => media.pressed(digit))
    media.onEvent((event) => this.#onEvent(event))
  }

  /** Resolves with the first thing that ends the call. Nothing is hung up yet. */
  get ended(): Promise<ConversationEnd> {
    return this.#ended.promise
  }

  /** What is known so far; complete once the media is stopped. */
  facts(): TalkFacts {
    return this.#facts
  }

  turnCount(): number {
    return this.#turns
  }

  /** How long replies took so far. */
  timing(): ConversationTiming {
    return { latencies: this.#latencies, firstWordsMs: this.#firstWordsMs }
  }

  /** Frees the timer and the listeners. */
  release(): void {
    clearTimeout(this.#cap)
    clearTimeout(this.#holdLimit)
    this.#options.signal.removeEventListener('abort', this.#onAbort)
  }

  #hold(isHeld: boolean): void {
    const { maxHoldMs } = this.#options
    if (isHeld === (this.#holdLimit !== undefined)) return
    clearTimeout(this.#holdLimit)
    this.#holdLimit = isHeld
      ? setTimeout(() => this.#end({ kind: 'held_too_long', limitMs: maxHoldMs }), maxHoldMs)
      : undefined
    this.#options.onHold(isHeld)
  }

  #end(end: ConversationEnd): void {
    this.#ended.resolve(end)
  }

  #learn(learned: Partial<TalkFacts>): void {
    this.#facts = { ...this.#facts, ...learned }
  }

  readonly #onAbort = (): void => {
    const kind = stopReasonOf(this.#options.signal)
    this.#end({ kind: kind === 'lease_lost' ? 'lost' : kind })
  }

  #onLegEnded({ by, reason }: LegEnd): void {
    this.#end(
      by === 'failure'
        ? { kind: 'breakdown', reason: reason ?? 'The carrier lost the call.' }
        : { kind: 'callee_hung_up' },
    )
  }

  #onEvent(event: MediaEvent): void {
    switch (event.type) {
      case 'turn':
        this.#turns += 1
        return this.#options.onTurn(event.turn)
      case 'words':
        return this.#options.onWords?.(event.words)
      case 'sound':
        return this.#options.onSound?.(event.g711)
      case 'turn_latency':
        this.#options.onLatency?.(event.latency)
        if (this.#latencies.length < maxLatencies) this.#latencies.push(event.latency)
        return
      case 'first_words':
        this.#firstWordsMs ??= event.atMs
        return
      case 'hang_up':
        return this.#end({ kind: 'hang_up', reason: event.reason })
      case 'voicemail':
        return this.#learn({ voicemail: event.messageLeft ? 'message_left' : 'skipped' })
      case 'opted_out':
        return this.#learn({ optedOut: true })
      case 'nobody':
        return this.#learn({ nobody: event.kind })
      case 'transfer':
        return void this.#transfer()
      case 'one_way_audio':
        return this.#options.onOneWayAudio(event.missing)
      case 'media_silence':
        return this.#end({ kind: 'media_silence' })
      case 'breakdown':
        return this.#end({ kind: 'breakdown', reason: event.reason })
      case 'send_digits':
        return void this.#options.leg.sendDigits(event.digits)
      case 'tool_used':
      case 'dtmf':
        return
    }
  }

  async #transfer(): Promise<void> {
    const { transferTo, leg, media } = this.#options
    if (transferTo === undefined) return this.#refuseTransfer('Nobody is named to transfer to.')
    const outcome = await leg.transfer(transferTo)
    if (outcome.kind === 'refused') return this.#refuseTransfer(outcome.reason)
    this.#learn({ isTransferred: true })
    media.transferSettled({ transferred: true })
  }

  #refuseTransfer(reason: string): void {
    this.#options.media.transferSettled({ transferred: false, reason })
  }
}
