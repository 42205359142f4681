import { frameMs } from '../../audio/frame.ts'
import { g711Silence, transcodeG711, type G711Codec } from '../../audio/g711.ts'
import type { VoiceActivityDetector } from '../../audio/voice-activity.ts'
import type { Conversation } from '../../conversation/loop/conversation.ts'
import type {
  ConversationFacts,
  ConversationOptions,
  TransferResult,
} from '../../conversation/loop/conversation-types.ts'
import type { VoiceEngine } from '../../conversation/engine/voice-engine.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { RtpSession } from '../../rtp/rtp-session-types.ts'
import type { Ticker } from '../../rtp/ticker.ts'
import type { NegotiatedMedia } from '../../telephony/carrier.ts'
import { listenToConversation } from './conversation-events.ts'
import { EngineOpening } from './engine-opening.ts'
import type {
  ConversationPlan,
  EngineSettings,
  MediaEvent,
  MediaReport,
  RecordingTarget,
} from './media-protocol.ts'
import { MediaSilence } from './media-silence.ts'
import {
  createRecorderSpool,
  type RecorderSpool,
  type SpoolFigures,
} from '../recording/recorder-spool.ts'

/** The part of a conversation that the channel uses. */
export type LiveConversation = Pick<Conversation, 'tick' | 'heardDigit' | 'finish'>

interface MediaChannelOptions {
  readonly callId: string
  readonly rtp: RtpSession
  readonly ticker: Ticker
  openEngine(settings: EngineSettings): VoiceEngine
  openVoiceActivity(): Promise<VoiceActivityDetector>
  createConversation(options: ConversationOptions): LiveConversation
  post(event: MediaEvent): void
  readonly logger: Logger
}

/**
 * Engine and recorder use mu-law whatever the line's codec, because the session is opened before the codec is
 * negotiated.
 */
const innerCodec: G711Codec = 'pcmu'
/** An engine that is not ready this long after the answer has failed. Until then the callee hears silence. */
const engineLateLimitMs = 5_000
const silenceCheckFrames = 50
const silentFrame = g711Silence(innerCodec)

/** The live half of one call: tick by tick, joins socket, conversation and recorder. */
export class MediaChannel {
  readonly #options: MediaChannelOptions
  readonly #rtp: RtpSession
  readonly #engine: EngineOpening
  readonly #silence = new MediaSilence()
  readonly #heardInner = new Uint8Array(silentFrame.length)
  readonly #saidOuter = new Uint8Array(silentFrame.length)
  #lineCodec: G711Codec = innerCodec
  #frames = 0
  #conversation: LiveConversation | undefined
  #spool: RecorderSpool | undefined
  #removeTick: (() => void) | undefined
  #settleTransfer: ((result: TransferResult) => void) | undefined
  #isBroken = false
  #stopping: Promise<MediaReport> | undefined

  constructor(options: MediaChannelOptions) {
    this.#options = options
    this.#rtp = options.rtp
    this.#engine = new EngineOpening({
      callId: options.callId,
      codec: innerCodec,
      openEngine: (settings) => options.openEngine(settings),
      openVoiceActivity: () => options.openVoiceActivity(),
      onFailure: () => this.#breakDown('The voice engine could not be reached.'),
      logger: options.logger,
    })
    this.#rtp.onDigit((digit) => this.pressed(digit))
  }

  /** Opens the engine while the phone rings. */
  prepare(plan: ConversationPlan): void {
    this.#engine.start(plan)
  }

  /** The callee has answered. */
  start(media: NegotiatedMedia, recording: RecordingTarget | undefined): void {
    if (this.#removeTick !== undefined || this.#stopping !== undefined) return
    const { callId, ticker, logger } = this.#options
    this.updateMedia(media)
    if (recording !== undefined)
      this.#spool = createRecorderSpool(recording.path, spoolHeader(callId, recording))
    this.#removeTick = ticker.add(
      () => this.#tick(),
      (error) => {
        logger.error({ err: error }, 'the media loop of a call broke')
        this.#breakDown('The media loop of the call broke down.')
      },
    )
    void this.#converse()
  }

  /** The media was renegotiated, for example for a hold. */
  updateMedia(media: NegotiatedMedia): void {
    this.#lineCodec = media.codec
    this.#silence.agreed(media.direction !== 'sendrecv', this.#frames)
    this.#rtp.connect(media)
    this.#rtp.setDirection(media.direction)
  }

  /** The callee pressed a key, reported by RTP or by signalling. */
  pressed(digit: string): void {
    this.#options.post({ type: 'dtmf', digit })
    this.#conversation?.heardDigit(digit)
  }

  /** The carrier's final result of the requested transfer. */
  transferSettled(result: TransferResult): void {
    this.#settleTransfer?.(result)
  }

  /** Flushes the last words and the recording, then frees the socket. Safe twice. */
  stop(): Promise<MediaReport> {
    return (this.#stopping ??= this.#stop())
  }

  #tick(): void {
    const heard = transcodeG711(this.#lineCodec, innerCodec, this.#rtp.receive(), this.#heardInner)
    const said = this.#conversation?.tick(heard) ?? silentFrame
    this.#rtp.send(transcodeG711(innerCodec, this.#lineCodec, said, this.#saidOuter))
    this.#spool?.write(said, heard)
    this.#frames += 1
    if (this.#frames % silenceCheckFrames === 0) this.#watch()
  }

  #watch(): void {
    const isLate = this.#conversation === undefined && this.#nowMs >= engineLateLimitMs
    if (isLate) this.#breakDown('The voice engine was not ready in time.')
    if (this.#silence.check(this.#rtp.stats().silentForMs, this.#frames))
      this.#options.post({ type: 'media_silence' })
  }

  /** Frames since the answer × 20 ms: the recording's clock. */
  get #nowMs(): number {
    return this.#frames * frameMs
  }

  #breakDown(reason: string): void {
    if (this.#isBroken || this.#stopping !== undefined) return
    this.#isBroken = true
    this.#options.post({ type: 'breakdown', reason })
  }

  async #converse(): Promise<void> {
    const prepared = await this.#engine.prepared
    if (prepared === undefined || this.#stopping !== undefined) return
    const { plan, session, voiceActivity } = prepared
    this.#conversation = this.#options.createConversation({
      session,
      codec: innerCodec,
      voiceActivity,
      agent: {
        language: plan.session.language,
        maxDurationMs: plan.maxDurationMs,
        voicemail: plan.voicemail,
        voicemailMessage: plan.voicemailMessage ?? '',
      },
      listener: listenToConversation({
        plan,
        startedAtMs: this.#nowMs,
        post: (event) => this.#options.post(event),
        breakDown: (reason) => this.#breakDown(reason),
        sendDtmf: (digits) => this.#rtp.sendDtmf(digits),
        askTransfer: () => this.#askTransfer(),
      }),
      logger: this.#options.logger,
    })
  }

  #askTransfer(): Promise<TransferResult> {
    return new Promise((resolve) => {
      this.#settleTransfer = resolve
      this.#options.post({ type: 'transfer' })
    })
  }

  async #stop(): Promise<MediaReport> {
    this.#removeTick?.()
    this.#engine.abort()
    const [facts, figures] = await Promise.all([this.#finishConversation(), this.#spool?.close()])
    const report = this.#report(facts, figures)
    await this.#rtp.close()
    return report
  }

  #finishConversation(): Promise<ConversationFacts | undefined> {
    if (this.#conversation !== undefined) return this.#conversation.finish()
    return this.#engine.close().then(() => undefined)
  }

  #report(facts: ConversationFacts | undefined, figures: SpoolFigures | undefined): MediaReport {
    const { packetsSent, packetsReceived, packetsLost } = this.#rtp.stats()
    const isRecorded = figures !== undefined && figures.framesWritten > 0
    return {
      durationMs: this.#nowMs,
      recordingPath: isRecorded ? figures.path : undefined,
      framesLost: figures?.framesLost ?? 0,
      usage: facts?.usage,
      reportedOutcome: facts?.reportedOutcome,
      rtp: { packetsSent, packetsReceived, packetsLost },
    }
  }
}

const spoolHeader = (callId: string, { organizationId, startedAt }: RecordingTarget) =>
  ({ version: 1, codec: innerCodec, organizationId, callId, startedAt }) as const
