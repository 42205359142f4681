import { frameMs, g711BytesPerMs } from '../../../audio/frame.ts'
import { BoundedMap } from '../../../runtime/bounded-map.ts'
import type { Logger } from '../../../runtime/logger.ts'
import { createEventQueue } from '../../engine/event-queue.ts'
import type {
  EngineUsage,
  LoopTurns,
  SessionOptions,
  VoiceEvent,
  VoiceSession,
} from '../../engine/voice-engine.ts'
import type { LinkLoss } from './link-loss.ts'
import type { OpenedLink } from './link-settings.ts'
import { RealtimeLink } from './realtime-link.ts'
import { createRecentFrames } from './recent-frames.ts'
import { SessionHistory, cutOffNote, userMessage } from './session-history.ts'
import { SessionStage } from './session-stage.ts'
import { createSpeechState } from './speech-state.ts'
import { eventOfConversation, readUtteranceId } from './stage-events.ts'
import { createSuccessor, type Successor } from './successor.ts'

interface LastingSessionOptions {
  readonly first: OpenedLink
  /** Another session with the same settings. */
  openNext(signal: AbortSignal): Promise<OpenedLink>
  /** Overrides what is known about the server. */
  readonly sessionCapMs: number | undefined
  readonly reconnectLimitMs: number | undefined
  readonly options: SessionOptions
  readonly logger: Logger
}

interface Resumption {
  /** The first frame that the next session hears again. */
  readonly frame: number
  /** Texts that should be said word for word and were not. */
  readonly texts: readonly string[]
  /** The agent was cut off in the middle of its own words. */
  readonly isCutOff: boolean
}

/** More than a minute of events that no consumer takes. */
const maxQueuedEvents = 4_000
/** A callee does not wait longer in silence. */
const defaultReconnectLimitMs = 8_000
/** Sessions that break in quick succession are not the network's fault. */
const maxReconnects = 5
/** A server that failed to reply in two sessions will not reply in a third, and the callee has waited long. */
const maxSilentSessions = 2
/** While the line is gone, an agent has only a few texts to say; the oldest is dropped. */
const maxWaitingTexts = 8
const maxTrackedTools = 64
const renewalCheckFrames = 10
const quietMs = 300

/**
 * One conversation over as many sessions as it needs. The next session is opened before the server ends the present
 * one, or after a lost connection, and receives what was said. The callee hears at most a short silence.
 */
export class LastingSession implements VoiceSession {
  readonly #settings: LastingSessionOptions
  readonly #queue = createEventQueue<VoiceEvent>(maxQueuedEvents)
  readonly #history = new SessionHistory()
  readonly #recent = createRecentFrames()
  readonly #speech = createSpeechState()
  readonly #closing = new AbortController()
  readonly #stageOfTool = new BoundedMap<string, number>({ maxSize: maxTrackedTools })
  readonly #past: EngineUsage[] = []
  readonly #waitingTexts: string[] = []
  readonly #successor: Successor
  readonly loopTurns: LoopTurns | undefined
  #stages = 0
  /** How much audio of the callee came before the present session. */
  #stageStartMs = 0
  /** The loop asked for a reply that did not come yet; and whether its session was lost meanwhile. */
  #isReplyAwaited = false
  #isReplyLost = false
  #current: SessionStage | undefined
  #reconnects = 0
  #silentSessions = 0
  #playedOutAtMs = 0
  #isOver = false
  #closed: Promise<EngineUsage> | undefined

  constructor(settings: LastingSessionOptions) {
    this.#settings = settings
    this.#successor = createSuccessor({
      openNext: (signal) => settings.openNext(signal),
      signal: this.#closing.signal,
      callId: settings.options.callId,
      logger: settings.logger,
    })
    if (settings.options.turns === 'loop' && settings.first.dialect !== 'qwen')
      this.loopTurns = this.#createLoopTurns()
    this.#start(settings.first, 0)
  }

  get events(): AsyncIterable<VoiceEvent> {
    return this.#queue.events
  }

  hear(frame: Uint8Array): void {
    if (this.#isOver) return
    this.#recent.push(frame)
    if (!this.#current) return
    this.#current.link.hear(frame)
    if (this.#recent.count % renewalCheckFrames === 0) this.#renewWhenDue(this.#current)
  }

  say(text: string): void {
    if (this.#isOver) return
    if (this.#current) return this.#current.link.say(text)
    this.#waitingTexts.push(text)
    if (this.#waitingTexts.length > maxWaitingTexts) this.#waitingTexts.shift()
  }

  pressed(digits: string): void {
    if (this.#isOver) return
    const text = `[The person pressed these keys on the telephone: ${digits}]`
    this.#history.addInput(text)
    this.#current?.link.remember([userMessage(text)])
    this.#current?.link.goOn()
  }

  interrupt(utteranceId: string, playedMs: number): void {
    this.#history.interrupted(utteranceId, playedMs)
    this.#playedOutAtMs = this.#heardMs
    const { number, ofStage } = readUtteranceId(utteranceId)
    if (this.#current?.number === number) this.#current.link.interrupt(ofStage, playedMs)
  }

  toolResult(toolCallId: string, result: unknown, goOn = true): void {
    this.#history.toolResult(toolCallId, result)
    if (!this.#current || this.#isOver) return
    const { number, link } = this.#current
    const caller = this.#stageOfTool.get(toolCallId)
    this.#stageOfTool.delete(toolCallId)
    if (caller === number) return link.toolResult(toolCallId, result, goOn)
    link.remember(this.#history.toolItems(toolCallId, result))
    if (goOn) link.goOn()
  }

  close(): Promise<EngineUsage> {
    return (this.#closed ??= this.#close())
  }

  #createLoopTurns(): LoopTurns {
    return {
      reply: () => {
        this.#isReplyAwaited = true
        this.#current?.link.goOn()
      },
      dismiss: (startMs) => this.#current?.link.forget(startMs - this.#stageStartMs),
      needsWords: false,
    }
  }

  get #heardMs(): number {
    return this.#recent.count * frameMs
  }

  #start(opened: OpenedLink, startMs: number): RealtimeLink {
    const { options, logger, sessionCapMs } = this.#settings
    const number = this.#stages + 1
    this.#stages = number
    this.#stageStartMs = startMs
    const link = new RealtimeLink({
      opened,
      session: options,
      onEvent: (event) => this.#take(event, number, startMs),
      onLost: (loss) => this.#lost(number, loss),
      logger,
    })
    this.#current = new SessionStage(number, link, sessionCapMs ?? opened.capMs ?? Infinity)
    return link
  }

  #take(event: VoiceEvent, number: number, startMs: number): void {
    if (number !== this.#stages || this.#isOver) return
    if (event.type === 'tool_call') this.#trackTool(event.id, number)
    const stage = { number, startMs }
    const ofConversation = eventOfConversation(event, stage, this.#speech, this.#heardMs)
    if (ofConversation) this.#emit(ofConversation)
    if (event.type === 'audio' || event.type === 'tool_call') this.#isReplyAwaited = false
    if (event.type === 'contact_text' && this.#isReplyLost) this.#replyAgain()
  }

  /** The words came that the reply of a lost session was about. */
  #replyAgain(): void {
    this.#isReplyLost = false
    this.#current?.link.goOn()
  }

  #trackTool(id: string, number: number): void {
    this.#stageOfTool.set(id, number)
  }

  #emit(event: VoiceEvent): void {
    this.#history.take(event)
    if (event.type === 'audio') {
      this.#silentSessions = 0
      const lengthMs = event.g711.length / g711BytesPerMs
      this.#playedOutAtMs = Math.max(this.#playedOutAtMs, this.#heardMs) + lengthMs
    }
    if (this.#queue.push(event) || this.#isOver) return
    this.#fail({ code: 'slow_consumer', message: 'The events are not taken.' })
    this.#retire()
  }

  #fail({ code, message }: Pick<LinkLoss, 'code' | 'message'>): void {
    if (this.#isOver) return
    this.#queue.push({ type: 'error', fatal: true, code, message })
    this.#end()
  }

  #lost(number: number, loss: LinkLoss): void {
    if (number !== this.#current?.number || this.#isOver) return
    const broken = this.#current
    this.#current = undefined
    this.#past.push(broken.link.usage)
    if (broken.isSteady) this.#reconnects = 0
    if (loss.code === 'response_timeout') this.#silentSessions += 1
    const isHopeless =
      this.#reconnects >= maxReconnects || this.#silentSessions >= maxSilentSessions
    if (loss.isFinal || isHopeless) return this.#fail(loss)
    this.#reconnects += 1
    void this.#reconnect(broken.link, loss)
  }

  async #reconnect(broken: RealtimeLink, loss: LinkLoss): Promise<void> {
    const { options, logger, reconnectLimitMs } = this.#settings
    const from = this.#whereItStood(broken)
    if (this.#speech.lost(this.#heardMs)) this.#emit({ type: 'speech_stop', atMs: this.#heardMs })
    const opened = await this.#successor.take(reconnectLimitMs ?? defaultReconnectLimitMs)
    if (this.#isOver) return opened?.socket.terminate()
    if (!opened) return this.#fail(loss)
    logger.info({ call_id: options.callId, code: loss.code }, 'a voice engine session was replaced')
    const texts = [...from.texts, ...this.#waitingTexts.splice(0)]
    this.#resume(opened, { ...from, texts })
  }

  #renewWhenDue(stage: SessionStage): void {
    if (!stage.isRenewalDue) return
    this.#successor.prepare()
    if (!this.#successor.isReady || !(this.#isSilentMoment(stage.link) || stage.isEnding)) return
    const opened = this.#successor.takeReady()
    if (!opened) return
    const from = this.#whereItStood(stage.link)
    this.#retire()
    this.#resume(opened, from)
  }

  #isSilentMoment(link: RealtimeLink): boolean {
    const isPlayedOut = this.#heardMs >= this.#playedOutAtMs + quietMs
    return link.isIdle && this.#speech.isQuiet(this.#heardMs) && isPlayedOut
  }

  /**
   * The next session hears again what the last one did not report: speech without words yet, and everything since
   * its last message, because a server reports speech at once.
   */
  #whereItStood(link: RealtimeLink): Resumption {
    const openMs = this.#speech.isQuiet(this.#heardMs) ? undefined : this.#speech.openSinceMs
    const fromMs = Math.min(openMs ?? Infinity, this.#heardMs - link.silentForMs)
    const frame = Math.max(0, this.#recent.oldest, Math.floor(fromMs / frameMs))
    return { frame, texts: link.unsaid, isCutOff: link.isSpeaking }
  }

  /** Starts a session with the conversation so far and the audio it must hear again. */
  #resume(opened: OpenedLink, { frame, texts, isCutOff }: Resumption): void {
    const link = this.#start(opened, frame * frameMs)
    link.remember(this.#history.items(opened.dialect))
    if (isCutOff) link.remember([cutOffNote])
    for (const text of texts) link.say(text)
    const goesOn = isCutOff || (this.#history.isReplyOwed && texts.length === 0)
    if (goesOn) link.goOn()
    this.#isReplyLost = this.#isReplyAwaited && !goesOn
    for (const heard of this.#recent.since(frame)) link.hear(heard)
  }

  /** Releases the present session. */
  #retire(): void {
    const stage = this.#current
    this.#current = undefined
    if (!stage) return
    this.#past.push(stage.link.usage)
    void stage.link.close()
  }

  #end(): void {
    this.#isOver = true
    this.#queue.end()
    this.#closing.abort()
    this.#successor.close()
  }

  async #close(): Promise<EngineUsage> {
    this.#end()
    await this.#current?.link.close()
    return this.#usage
  }

  get #usage(): EngineUsage {
    const all = this.#current ? [...this.#past, this.#current.link.usage] : this.#past
    const sum = (member: keyof EngineUsage): number =>
      all.reduce((amount, usage) => amount + (usage[member] ?? 0), 0)
    return {
      inputTokens: sum('inputTokens'),
      outputTokens: sum('outputTokens'),
      audioInputTokens: sum('audioInputTokens'),
      cachedInputTokens: sum('cachedInputTokens'),
      cachedAudioInputTokens: sum('cachedAudioInputTokens'),
      audioOutputTokens: sum('audioOutputTokens'),
      // Audio that several sessions heard counts once.
      audioInMs: this.#heardMs,
      audioOutMs: sum('audioOutMs'),
    }
  }
}
