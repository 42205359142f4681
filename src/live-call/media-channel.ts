import { g711Silence, transcodeG711, type G711Codec } from '../audio/g711.ts'
import type { VoiceActivityDetector } from '../audio/voice-activity.ts'
import type { Conversation } from '../conversation/conversation.ts'
import type {
  ConversationFacts,
  ConversationListener,
  ConversationOptions,
  TransferResult,
} from '../conversation/conversation-types.ts'
import type { VoiceEngine, VoiceSession } from '../conversation/voice-engine.ts'
import type { Logger } from '../runtime/logger.ts'
import { createOutboundHttp } from '../runtime/outbound-http.ts'
import type { RtpSession } from '../rtp/rtp-session-types.ts'
import type { Ticker } from '../rtp/ticker.ts'
import type { NegotiatedMedia } from '../telephony/carrier.ts'
import { askHttpTool } from './http-tool.ts'
import {
  mediaSilenceLimitMs,
  type ConversationPlan,
  type EngineSettings,
  type MediaEvent,
  type MediaReport,
  type RecordingTarget,
} from './media-protocol.ts'
import { createRecorderSpool, type RecorderSpool } from './recorder-spool.ts'

/** The live half of one call: socket, conversation and recorder, joined by the tick. */
export interface MediaChannel {
  prepare(plan: ConversationPlan): void
  start(media: NegotiatedMedia, recording: RecordingTarget | undefined): void
  updateMedia(media: NegotiatedMedia): void
  /** A key that came by signalling. */
  pressed(digit: string): void
  transferSettled(result: TransferResult): void
  /** Flushes the last words and the recording, then frees the socket. Safe twice. */
  stop(): Promise<MediaReport>
}

/** What the channel needs of a conversation. */
export type LiveConversation = Pick<Conversation, 'tick' | 'heardDigit' | 'finish'>

export interface MediaChannelOptions {
  readonly callId: string
  readonly rtp: RtpSession
  readonly ticker: Ticker
  openEngine(settings: EngineSettings): VoiceEngine
  openVoiceActivity(): Promise<VoiceActivityDetector>
  createConversation(options: ConversationOptions): LiveConversation
  post(event: MediaEvent): void
  readonly logger: Logger
}

/** Engine and recorder speak mu-law whatever the line speaks: the session is opened before the codec is agreed. */
const innerCodec: G711Codec = 'pcmu'
const frameMs = 20
/** An engine that cannot speak this long after the answer has failed. Until then the callee hears silence. */
const engineLateLimitMs = 5_000
/** And it may take this long while the phone rings. */
const engineOpenLimitMs = 20_000
const silenceCheckFrames = 50
const silentFrame = g711Silence(innerCodec)

/** One of the thread: connections outlive calls. */
const outbound = createOutboundHttp()

export const createMediaChannel = (options: MediaChannelOptions): MediaChannel => {
  const { rtp, logger } = options
  const engineAbort = new AbortController()
  const heardInner = new Uint8Array(silentFrame.length)
  const saidOuter = new Uint8Array(silentFrame.length)
  let lineCodec: G711Codec = innerCodec
  let isHeld = false
  let resumedAtFrame = 0
  let frames = 0
  let turns = 0
  let conversation: LiveConversation | undefined
  let spool: RecorderSpool | undefined
  let removeTick: (() => void) | undefined
  let preparing: Promise<PreparedEngine | undefined> = Promise.resolve(undefined)
  let stopping: Promise<MediaReport> | undefined
  let isBroken = false
  let isSilenceReported = false
  let transferring: ((result: TransferResult) => void) | undefined

  const breakDown = (reason: string): void => {
    if (isBroken || stopping !== undefined) return
    isBroken = true
    options.post({ type: 'breakdown', reason })
  }

  const open = async (plan: ConversationPlan): Promise<PreparedEngine | undefined> => {
    const limit = AbortSignal.timeout(engineOpenLimitMs)
    try {
      const engine = options.openEngine(plan.engine)
      const session = await engine.open(
        { ...plan.session, callId: options.callId, codec: innerCodec },
        AbortSignal.any([engineAbort.signal, limit]),
      )
      return { plan, session, voiceActivity: await options.openVoiceActivity() }
    } catch (error) {
      if (!engineAbort.signal.aborted) {
        logger.warn({ err: error }, 'a voice engine could not be opened')
        breakDown('The voice engine could not be reached.')
      }
      return undefined
    }
  }

  /** Turns are counted from the conversation's first tick; it may have begun after the answer. */
  const listener = (plan: ConversationPlan, startedAtMs: number): ConversationListener => ({
    onTurn: ({ speaker, text, audioOffsetMs }) =>
      options.post({
        type: 'turn',
        turn: { sequence: (turns += 1), speaker, text, audioOffsetMs: audioOffsetMs + startedAtMs },
      }),
    onLatency: (latency) => {
      const audioOffsetMs = latency.audioOffsetMs + startedAtMs
      options.post({ type: 'turn_latency', latency: { ...latency, audioOffsetMs } })
    },
    onFirstWords: (atMs) => options.post({ type: 'first_words', atMs: atMs + startedAtMs }),
    onHangUp: (reason) => {
      if (reason === 'engine_failed') breakDown('The voice engine failed during the call.')
      else options.post({ type: 'hang_up', reason })
    },
    onOptOut: () => options.post({ type: 'opted_out' }),
    onVoicemail: (messageLeft) => options.post({ type: 'voicemail', messageLeft }),
    onNobody: (kind) => options.post({ type: 'nobody', kind }),
    onDtmf: (digits) => rtp.sendDtmf(digits),
    ...(plan.transferTo !== undefined && { transfer: askTransfer }),
    runTool: (name, toolArguments) => runTool(plan, name, toolArguments),
  })

  const askTransfer = (): Promise<TransferResult> =>
    new Promise((resolve) => {
      transferring = resolve
      options.post({ type: 'transfer' })
    })

  const runTool = async (
    plan: ConversationPlan,
    name: string,
    toolArguments: unknown,
  ): Promise<unknown> => {
    const tool = plan.httpTools.find((each) => each.name === name)
    if (tool === undefined) throw new Error('The agent has no such tool.')
    let ok = false
    try {
      const answer = await askHttpTool(outbound, tool, toolArguments, plan)
      ok = answer.status < 400
      return answer
    } finally {
      options.post({ type: 'tool_used', name, ok })
    }
  }

  const converse = async (): Promise<void> => {
    const prepared = await preparing
    if (prepared === undefined || stopping !== undefined) return
    const { plan, session, voiceActivity } = prepared
    conversation = options.createConversation({
      session,
      codec: innerCodec,
      voiceActivity,
      agent: {
        language: plan.session.language,
        maxDurationMs: plan.maxDurationMs,
        voicemail: plan.voicemail,
        voicemailMessage: plan.voicemailMessage ?? '',
      },
      listener: listener(plan, frames * frameMs),
      logger,
    })
  }

  const tick = (): void => {
    const heard = transcodeG711(lineCodec, innerCodec, rtp.receive(), heardInner)
    const said = conversation?.tick(heard) ?? silentFrame
    rtp.send(transcodeG711(innerCodec, lineCodec, said, saidOuter))
    spool?.write(said, heard)
    frames += 1
    if (frames % silenceCheckFrames === 0) watch()
  }

  const watch = (): void => {
    if (conversation === undefined && frames * frameMs >= engineLateLimitMs) {
      breakDown('The voice engine was not ready in time.')
    }
    if (isHeld || isSilenceReported) return
    const silentMs = Math.min(rtp.stats().silentForMs, (frames - resumedAtFrame) * frameMs)
    if (silentMs < mediaSilenceLimitMs) return
    isSilenceReported = true
    options.post({ type: 'media_silence' })
  }

  const connect = (media: NegotiatedMedia): void => {
    lineCodec = media.codec
    // Whoever holds us may send nothing, whatever was agreed.
    isHeld = media.direction !== 'sendrecv'
    resumedAtFrame = frames
    rtp.connect(media)
    rtp.setDirection(media.direction)
  }

  const stop = async (): Promise<MediaReport> => {
    removeTick?.()
    engineAbort.abort()
    const [facts, figures] = await Promise.all([finishConversation(), spool?.close()])
    const stats = rtp.stats()
    await rtp.close()
    return {
      durationMs: frames * frameMs,
      recordingPath: figures !== undefined && figures.framesWritten > 0 ? figures.path : undefined,
      framesLost: figures?.framesLost ?? 0,
      usage: facts?.usage,
      reportedOutcome: facts?.reportedOutcome,
      rtp: {
        packetsSent: stats.packetsSent,
        packetsReceived: stats.packetsReceived,
        packetsLost: stats.packetsLost,
      },
    }
  }

  const finishConversation = async (): Promise<ConversationFacts | undefined> => {
    if (conversation !== undefined) return conversation.finish()
    const prepared = await preparing
    prepared?.voiceActivity.close()
    await prepared?.session.close()
    return undefined
  }

  const pressed = (digit: string): void => {
    options.post({ type: 'dtmf', digit })
    conversation?.heardDigit(digit)
  }
  rtp.onDigit(pressed)

  return {
    prepare: (plan) => {
      preparing = open(plan)
    },
    start: (media, recording) => {
      if (removeTick !== undefined || stopping !== undefined) return
      connect(media)
      if (recording !== undefined)
        spool = createRecorderSpool(recording.path, spoolHeader(options.callId, recording))
      removeTick = options.ticker.add(tick, (error) => {
        logger.error({ err: error }, 'the media loop of a call broke')
        breakDown('The media loop of the call broke down.')
      })
      void converse()
    },
    updateMedia: connect,
    pressed,
    transferSettled: (result) => transferring?.(result),
    stop: () => (stopping ??= stop()),
  }
}

interface PreparedEngine {
  readonly plan: ConversationPlan
  readonly session: VoiceSession
  readonly voiceActivity: VoiceActivityDetector
}

const spoolHeader = (callId: string, { organizationId, startedAt }: RecordingTarget) =>
  ({ version: 1, codec: innerCodec, organizationId, callId, startedAt }) as const
