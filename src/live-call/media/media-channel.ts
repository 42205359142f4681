import { frameMs } from '../../audio/frame.ts'
import { createDtmfDetector, type DtmfDetector } from '../../audio/dtmf-detector.ts'
import { decodeG711, g711Silence, transcodeG711, type G711Codec } from '../../audio/g711.ts'
import type { VoiceActivityDetector } from '../../audio/voice-activity.ts'
import type { Conversation } from '../../conversation/loop/conversation.ts'
import type {
  ConversationFacts,
  ConversationOptions,
  TransferResult,
} from '../../conversation/loop/conversation-types.ts'
import type { VoiceEngine } from '../../conversation/engine/voice-engine.ts'
import type { Logger } from '../../runtime/logger.ts'
import { qualityOf } from '../../rtp/call-quality.ts'
import type { RtpSession } from '../../rtp/rtp-session-types.ts'
import type { Ticker } from '../../rtp/ticker.ts'
import { isOnHold, type DtmfMode, type NegotiatedMedia } from '../../telephony/carrier.ts'
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
import { createOneWayAudio } from './one-way-audio.ts'
import {
  createRecorderSpool,
  type RecorderSpool,
  type SpoolFigures,
} from '../recording/recorder-spool.ts'
import { createSoundTap, type SoundTap } from './sound-tap.ts'
import { createWordsReport, type WordsReport } from './words-report.ts'

/** The part of a conversation that the channel uses. */
export type LiveConversation = Pick<
  Conversation,
  'tick' | 'heardDigit' | 'hold' | 'finish' | 'agentWords'
>

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
/** 300 ms after a hold: until then what comes may be the end of the music, already on its way. */
const musicTailFrames = 15
const silentFrame = g711Silence(innerCodec)

/** The live half of one call: tick by tick, joins socket, conversation and recorder. */
export class MediaChannel {
  readonly #options: MediaChannelOptions
  readonly #rtp: RtpSession
  readonly #engine: EngineOpening
  readonly #silence = new MediaSilence()
  readonly #oneWay = createOneWayAudio()
  readonly #heardInner = new Uint8Array(silentFrame.length)
  readonly #samples = new Int16Array(silentFrame.length)
  readonly #saidOuter = new Uint8Array(silentFrame.length)
  #lineCodec: G711Codec = innerCodec
  readonly #words: WordsReport
  readonly #tap: SoundTap
  #frames = 0
  #conversation: LiveConversation | undefined
  #spool: RecorderSpool | undefined
  #removeTick: (() => void) | undefined
  #settleTransfer: ((result: TransferResult) => void) | undefined
  #isTwoWay = false
  #isHeld = false
  #dtmf: DtmfMode = 'auto'
  #tones: DtmfDetector | undefined
  #deafUntilFrame = 0
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
    this.#words = createWordsReport((words) => options.post({ type: 'words', words }))
    this.#tap = createSoundTap((g711) => options.post({ type: 'sound', g711 }))
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
    this.#isTwoWay = media.direction === 'sendrecv'
    this.#silence.agreed(!this.#isTwoWay, this.#frames)
    this.#rtp.connect(media)
    this.#rtp.setDirection(media.direction)
    if (this.#isHeld) this.#deafUntilFrame = this.#frames + musicTailFrames
    this.#isHeld = isOnHold(media)
    this.#dtmf = media.dtmf ?? 'auto'
    const areTonesKeys = media.dtmf === 'inband' || media.telephoneEventPayloadType === undefined
    if (!areTonesKeys || media.dtmf === 'info') this.#tones = undefined
    else this.#tones ??= createDtmfDetector()
    this.#conversation?.hold(this.#isHeld)
  }

  /** The callee pressed a key, reported by RTP or by signalling. */
  pressed(digit: string): void {
    this.#options.post({ type: 'dtmf', digit })
    this.#conversation?.heardDigit(digit)
  }

  /** Whether the agent's words are reported while they are spoken. */
  reportWords(isOn: boolean): void {
    this.#words.turn(isOn)
  }

  /** Whether the sound of both sides is passed on. */
  passSound(isOn: boolean): void {
    this.#tap.turn(isOn)
  }

  /** What was passed on has arrived. */
  soundTaken(): void {
    this.#tap.taken()
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
    const heard = this.#hear()
    if (this.#tones !== undefined) this.#hearTones(heard)
    const said = this.#conversation?.tick(heard) ?? silentFrame
    this.#rtp.send(transcodeG711(innerCodec, this.#lineCodec, said, this.#saidOuter))
    this.#spool?.write(said, heard)
    if (this.#tap.isOn) this.#tap.write(said, heard)
    this.#frames += 1
    if (this.#frames % silenceCheckFrames === 0) this.#watch()
    if (this.#words.isOn) this.#words.tick(this.#frames, this.#conversation)
  }

  /** Music on hold is neither heard nor recorded. */
  #hear(): Uint8Array {
    const received = this.#rtp.receive()
    if (this.#isHeld || this.#frames < this.#deafUntilFrame) return silentFrame
    return transcodeG711(this.#lineCodec, innerCodec, received, this.#heardInner)
  }

  #watch(): void {
    const isLate = this.#conversation === undefined && this.#nowMs >= engineLateLimitMs
    if (isLate) this.#breakDown('The voice engine was not ready in time.')
    const stats = this.#rtp.stats()
    const missing = this.#oneWay.check(stats, this.#isTwoWay)
    if (missing !== undefined) this.#options.post({ type: 'one_way_audio', missing })
    if (this.#silence.check(stats.silentForMs, this.#frames))
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
        turnTaking: plan.turnTaking,
        hasGreeting: plan.session.greeting !== '',
      },
      listener: listenToConversation({
        plan,
        startedAtMs: this.#nowMs,
        post: (event) => this.#options.post(event),
        breakDown: (reason) => this.#breakDown(reason),
        sendDtmf: (digits) => this.#sendDigits(digits),
        askTransfer: () => this.#askTransfer(),
      }),
      logger: this.#options.logger,
    })
    this.#conversation.hold(this.#isHeld)
  }

  #sendDigits(digits: string): void {
    if (this.#dtmf === 'info') this.#options.post({ type: 'send_digits', digits })
    else this.#rtp.sendDtmf(digits)
  }

  /** Keys that come neither as telephone-event nor by signalling are tones in the audio. */
  #hearTones(heard: Uint8Array): void {
    const digit = this.#tones?.push(decodeG711(innerCodec, heard, this.#samples))
    if (digit !== undefined) this.pressed(digit)
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
    const stats = this.#rtp.stats()
    const { packetsSent, packetsReceived, packetsLost } = stats
    const isRecorded = figures !== undefined && figures.framesWritten > 0
    return {
      durationMs: this.#nowMs,
      recordingPath: isRecorded ? figures.path : undefined,
      framesLost: figures?.framesLost ?? 0,
      usage: facts?.usage,
      reportedOutcome: facts?.reportedOutcome,
      rtp: { packetsSent, packetsReceived, packetsLost },
      quality: this.#frames === 0 ? [] : qualityOf(stats),
    }
  }
}

const spoolHeader = (callId: string, { organizationId, startedAt }: RecordingTarget) =>
  ({ version: 1, codec: innerCodec, organizationId, callId, startedAt }) as const
