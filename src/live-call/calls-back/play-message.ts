import type { CallBackEnd } from '../../domains/calls-back/calls-back-store.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { CallBack } from '../../telephony/incoming/call-back.ts'
import type { CallLeg } from '../../telephony/carrier.ts'
import type { MediaSocketSettings } from '../media/media-protocol.ts'
import type { CallBackLine } from '../trunks/receive-calls-back.ts'
import type { MessagePlayer, PlayingCall } from './message-player.ts'
import type { MessageSpeech } from './message-speech.ts'

interface PlayMessageOptions {
  readonly speech: MessageSpeech
  readonly player: MessagePlayer
  /** Where the RTP sockets of a trunk listen. */
  readonly socketOf: (line: CallBackLine) => MediaSocketSettings
  readonly logger: Logger
}

interface Message {
  readonly call: CallBack
  readonly line: CallBackLine
  readonly text: string
  /** Hangs up. */
  readonly signal: AbortSignal
}

/** Answers a call, speaks, and hangs up. Resolves with what became of it; never rejects. */
export type PlayMessage = (message: Message) => Promise<CallBackEnd>

/** The phone of a caller rings meanwhile; a synthesizer that takes longer is of no use. */
const speechLimitMs = 15_000
/** A line whose thread lost its clock is closed this long after the message should have ended. */
const overdueMs = 10_000
const samplesPerMs = 8

export const createPlayMessage =
  (options: PlayMessageOptions): PlayMessage =>
  async (message) => {
    const { call, signal, line } = message
    call.ring()
    let media: PlayingCall | undefined
    try {
      const patience = AbortSignal.any([signal, call.cancelled, AbortSignal.timeout(speechLimitMs)])
      const clip = await options.speech.clipOf(message.text, patience)
      if (clip.length === 0) throw new Error('The message has no sound.')
      media = await options.player.open(options.socketOf(line))
      return await answer(call, media, clip, signal)
    } catch (error) {
      if (call.cancelled.aborted) return cancelled
      call.decline(480)
      const reason = 'The message could not be spoken: the log has the reason.'
      options.logger.error({ err: error, trunk: line.name }, 'a message could not be spoken')
      return { result: 'failed', sipStatus: 480, reason }
    } finally {
      media?.close()
    }
  }

const cancelled: CallBackEnd = {
  result: 'cancelled',
  sipStatus: 487,
  reason: 'The caller gave up.',
}

const answer = async (
  call: CallBack,
  media: PlayingCall,
  clip: Int16Array,
  signal: AbortSignal,
): Promise<CallBackEnd> => {
  const outcome = await call.answer(media.localMedia)
  if (call.cancelled.aborted) return cancelled
  if (outcome.kind !== 'answered')
    return {
      result: 'failed',
      sipStatus: outcome.kind === 'unacceptable' ? 488 : 200,
      reason: outcome.reason,
    }
  return speak(outcome.leg, media, clip, signal)
}

const speak = async (
  leg: CallLeg,
  media: PlayingCall,
  clip: Int16Array,
  signal: AbortSignal,
): Promise<CallBackEnd> => {
  const startedMs = performance.now()
  media.connect(leg.media)
  leg.onMediaChange((changed) => media.connect(changed))
  const over = Promise.withResolvers<void>()
  const isHeard = new AbortController()
  const overdue = setTimeout(over.resolve, clip.length / samplesPerMs + overdueMs)
  signal.addEventListener('abort', () => over.resolve(), { signal: isHeard.signal })
  if (signal.aborted) over.resolve()
  let isBroken = false
  const played = media.play(clip).catch(() => {
    isBroken = true
  })
  await Promise.race([played, leg.ended, over.promise])
  clearTimeout(overdue)
  isHeard.abort()
  await leg.hangUp()
  const end = await leg.ended
  const seconds = Math.round((performance.now() - startedMs) / 1000)
  const reason = isBroken ? 'The message broke off.' : reasonOf(end)
  return { result: isBroken ? 'failed' : 'message', sipStatus: 200, seconds, reason }
}

const reasonOf = ({ by }: Awaited<CallLeg['ended']>): string | undefined =>
  by === 'callee' ? 'The caller hung up.' : undefined
