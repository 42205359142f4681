import { stopReasonOf } from '../../domains/calls/lifecycle/hand-over.ts'
import type { TurnLatency } from '../../conversation/loop/conversation-types.ts'
import type { CallLeg } from '../../telephony/carrier.ts'
import type { ConversationEnd, CallFacts } from './call-ending.ts'
import type { MediaCall } from '../media/media-port.ts'
import type { MediaEvent } from '../media/media-protocol.ts'
import type { SpokenTurn } from '../../domains/results/transcript-store.ts'

interface ConversationWatch {
  readonly leg: CallLeg
  readonly media: MediaCall
  /** The agent's cap; ends the call whatever the conversation does (decision D3). */
  readonly maxDurationMs: number
  /** Aborts with a `CallStop`. */
  readonly signal: AbortSignal
  onTurn(turn: SpokenTurn): void
  /** Whom the agent may have the callee connected with. */
  readonly transferTo?: string | undefined
}

export interface ConversationTiming {
  readonly latencies: readonly TurnLatency[]
  /** From the answer to the agent's first sound; `undefined` if it never spoke. */
  readonly firstWordsMs: number | undefined
}

/** More answers than an hour holds; what is beyond is not measured. */
const maxLatencies = 1_000

interface HeldConversation {
  /** Resolves with the first thing that ends the call. Nothing is hung up yet. */
  readonly ended: Promise<ConversationEnd>
  /** What is known so far; complete once the media is stopped. */
  facts(): CallFacts
  turnCount(): number
  /** How long answers took so far. */
  timing(): ConversationTiming
  /** Frees the timer and the listeners. */
  release(): void
}

/**
 * Watches an answered call on behalf of the owner of the SIP dialog: the AI loop may ask for the end, but duration,
 * silence of the media, the other side and our own operator never depend on it.
 */
export const watchConversation = (watch: ConversationWatch): HeldConversation => {
  const ended = Promise.withResolvers<ConversationEnd>()
  let facts: CallFacts = { voicemail: 'none', optedOut: false, isTransferred: false }
  let turns = 0
  const latencies: TurnLatency[] = []
  let firstWordsMs: number | undefined

  const onEvent = (event: MediaEvent): void => {
    switch (event.type) {
      case 'turn':
        turns += 1
        return watch.onTurn(event.turn)
      case 'turn_latency':
        if (latencies.length < maxLatencies) latencies.push(event.latency)
        return
      case 'first_words':
        firstWordsMs ??= event.atMs
        return
      case 'hang_up':
        return ended.resolve({ kind: 'hang_up', reason: event.reason })
      case 'voicemail':
        facts = { ...facts, voicemail: event.messageLeft ? 'message_left' : 'skipped' }
        return
      case 'opted_out':
        facts = { ...facts, optedOut: true }
        return
      case 'nobody':
        facts = { ...facts, nobody: event.kind }
        return
      case 'transfer':
        return void transfer()
      case 'media_silence':
        return ended.resolve({ kind: 'media_silence' })
      case 'breakdown':
        return ended.resolve({ kind: 'breakdown', reason: event.reason })
      case 'tool_used':
      case 'dtmf':
        return
    }
  }

  const transfer = async (): Promise<void> => {
    if (watch.transferTo === undefined) return refuseTransfer('Nobody is named to transfer to.')
    const outcome = await watch.leg.transfer(watch.transferTo)
    if (outcome.kind === 'refused') return refuseTransfer(outcome.reason)
    facts = { ...facts, isTransferred: true }
    watch.media.transferSettled({ transferred: true })
  }

  const refuseTransfer = (reason: string): void =>
    watch.media.transferSettled({ transferred: false, reason })

  const onAbort = (): void => {
    const kind = stopReasonOf(watch.signal)
    ended.resolve({ kind: kind === 'lease_lost' ? 'lost' : kind })
  }
  const cap = setTimeout(() => ended.resolve({ kind: 'duration_cap' }), watch.maxDurationMs)
  watch.signal.addEventListener('abort', onAbort)
  if (watch.signal.aborted) onAbort()
  void watch.leg.ended.then((end) =>
    ended.resolve(
      end.by === 'failure'
        ? { kind: 'breakdown', reason: end.reason ?? 'The carrier lost the call.' }
        : { kind: 'callee_hung_up' },
    ),
  )
  watch.leg.onMediaChange((media) => watch.media.updateMedia(media))
  watch.leg.onDigit((digit) => watch.media.pressed(digit))
  watch.media.onEvent(onEvent)

  return {
    ended: ended.promise,
    facts: () => facts,
    turnCount: () => turns,
    timing: () => ({ latencies, firstWordsMs }),
    release: () => {
      clearTimeout(cap)
      watch.signal.removeEventListener('abort', onAbort)
    },
  }
}
