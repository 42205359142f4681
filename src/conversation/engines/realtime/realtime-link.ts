import { frameMs } from '../../../audio/frame.ts'
import { BoundedMap } from '../../../runtime/bounded-map.ts'
import type { Logger } from '../../../runtime/logger.ts'
import { unrecognisedText } from '../../../call-text/unrecognised-text.ts'
import type { EngineUsage, SessionOptions, VoiceEvent } from '../../engine/voice-engine.ts'
import { AgentUtterances } from './agent-utterances.ts'
import { createHeardAudio, type HeardAudio } from './heard-audio.ts'
import { codeOf, endsSession, lossOf, type LinkLoss } from './link-loss.ts'
import { createLinkSocket, type LinkSocket } from './link-socket.ts'
import { createModelCalls } from './model-calls.ts'
import type { OpenedLink } from './link-settings.ts'
import {
  parseServerEvent,
  verbatimInstructions,
  type FinishedResponse,
  type ProtocolError,
  type ServerEvent,
} from './protocol.ts'
import { ReplyWatch } from './reply-watch.ts'
import { createReportedSpeech, type ReportedSpeech } from './reported-speech.ts'
import { ResponseSequencer } from './response-sequencer.ts'
import { TokenTally } from './token-tally.ts'
import { createToolResults, type ToolResults } from './tool-results.ts'

interface RealtimeLinkOptions {
  /** The link owns the socket from here on. */
  readonly opened: Pick<OpenedLink, 'socket' | 'wire' | 'speechTimes'>
  readonly session: Pick<SessionOptions, 'codec' | 'callId' | 'turns'>
  /** Never contains a fatal `error`. Times count the audio that this link has heard. */
  readonly onEvent: (event: VoiceEvent) => void
  /** The link broke; nothing follows. Called at most once, and not after `close`. */
  readonly onLost: (loss: LinkLoss) => void
  readonly logger: Logger
}

/** A requested response that has not begun for longer than this, or has begun and is silent, will not come. */
const responseLimitMs = 12_000
/** Some models call `end_call` before their goodbye: the call is held back until its reply is complete. */
const endingTool = 'end_call'
/** Stretches of speech that the loop may still dismiss. */
const maxSpeechItems = 32

/** One protocol session over one socket. A conversation may outlive several of them. */
export class RealtimeLink {
  readonly #options: RealtimeLinkOptions
  readonly #connection: LinkSocket
  readonly #heard: HeardAudio
  readonly #utterances: AgentUtterances
  readonly #responses: ResponseSequencer
  readonly #tools: ToolResults
  readonly #replies: ReplyWatch
  readonly #speech: ReportedSpeech
  readonly #itemsOfSpeech = new BoundedMap<number, string>({ maxSize: maxSpeechItems })
  readonly #calls = createModelCalls()
  readonly #tokens = new TokenTally()
  readonly #endings: VoiceEvent[] = []
  #framesHeard = 0
  #isOver = false
  #askedAt: number | undefined
  #closing: Promise<void> | undefined

  constructor(options: RealtimeLinkOptions) {
    const { socket, wire, speechTimes } = options.opened
    const { codec } = options.session
    this.#options = options
    this.#speech = createReportedSpeech(speechTimes)
    this.#connection = createLinkSocket(socket, {
      onMessage: (text) => {
        const event = parseServerEvent(text)
        if (event) this.#take(event)
      },
      onLost: (code, message) => this.#lose(code, message),
      onCheck: () => this.#checkResponse(),
    })
    this.#heard = createHeardAudio(codec, wire, (message) => this.#connection.sendAudio(message))
    this.#utterances = new AgentUtterances(codec, wire, (event) => this.#emit(event))
    this.#responses = new ResponseSequencer((eventId, response) => {
      this.#askedAt = performance.now()
      const asked = { type: 'response.create', event_id: eventId } as const
      this.#connection.send({ ...asked, ...(response && { response }) })
    })
    this.#tools = createToolResults(
      (event) => this.#connection.send(event),
      () => this.#responses.oweReply(),
    )
    this.#replies = new ReplyWatch({
      ask: () => this.#responses.oweReply(),
      retry: () => this.#responses.resume(),
      giveUp: () => this.#lose('response_failed', 'The server fails to reply.'),
    })
  }

  /** No response is in flight or awaited, and no tool is. */
  get isIdle(): boolean {
    return this.#responses.isIdle && this.#tools.isIdle
  }

  /** Whether the agent was in the middle of an utterance of its own words. */
  get isSpeaking(): boolean {
    return this.#responses.inFlightId !== undefined && !this.#responses.isVerbatim
  }

  /** Milliseconds since the server's last message. */
  get silentForMs(): number {
    return this.#connection.silentForMs
  }

  /** Texts that should be said word for word and were not finished. */
  get unsaid(): readonly string[] {
    return this.#responses.unsaid
  }

  get usage(): EngineUsage {
    return {
      ...this.#tokens.usage,
      audioInMs: this.#heardMs,
      audioOutMs: this.#utterances.producedMs,
    }
  }

  get #heardMs(): number {
    return this.#framesHeard * frameMs
  }

  hear(frame: Uint8Array): void {
    if (this.#isOver) return
    this.#framesHeard += 1
    this.#heard.hear(frame)
  }

  say(text: string): void {
    const response = { instructions: verbatimInstructions(text), tool_choice: 'none' }
    this.#responses.request(response, text)
  }

  /** Adds an item to which the model does not reply by itself. */
  remember(items: readonly object[]): void {
    for (const item of items) this.#connection.send({ type: 'conversation.item.create', item })
  }

  /** The conversation has an item that needs a reply. Requests a reply if none comes by itself. */
  goOn(): void {
    this.#responses.oweReply()
  }

  /** The model forgets the callee's speech that began then. */
  forget(startMs: number): void {
    const itemId = this.#itemsOfSpeech.get(startMs)
    if (itemId === undefined || this.#isOver) return
    this.#itemsOfSpeech.delete(startMs)
    this.#connection.send({ type: 'conversation.item.delete', item_id: itemId })
  }

  interrupt(utteranceId: string, playedMs: number): void {
    const interrupted = this.#utterances.interrupt(utteranceId)
    if (!interrupted || this.#isOver) return
    const { producedMs, responseId } = interrupted
    if (this.#responses.inFlightId === responseId) {
      this.#connection.send({ type: 'response.cancel', response_id: responseId })
      this.#responses.cancelled()
    }
    if (producedMs === 0) return
    this.#connection.send({
      type: 'conversation.item.truncate',
      item_id: utteranceId,
      content_index: 0,
      audio_end_ms: Math.max(0, Math.min(Math.floor(playedMs), producedMs)),
    })
  }

  toolResult(toolCallId: string, result: unknown, goOn?: boolean): void {
    this.#tools.send(toolCallId, result, goOn)
  }

  /** Within two seconds; safe twice. */
  close(): Promise<void> {
    if (!this.#isOver) this.#end()
    return (this.#closing ??= this.#connection.close())
  }

  #take(event: ServerEvent): void {
    switch (event.type) {
      case 'response.output_audio.delta':
        return this.#utterances.audio(event.item_id, event.response_id, event.delta)
      case 'response.output_audio.done':
        return this.#utterances.audioDone(event.item_id)
      case 'response.output_audio_transcript.delta':
        return this.#utterances.text(event.item_id, event.response_id, event.delta)
      case 'response.output_audio_transcript.done':
        return this.#utterances.textDone(event.item_id, event.response_id, event.transcript)
      case 'response.created':
        return this.#responseCreated(event.response.id)
      case 'response.done':
        return this.#responseDone(event.response)
      case 'response.output_item.done':
        return this.#toolCalled(this.#calls.ofItem(event.item))
      case 'response.function_call_arguments.done':
        return this.#toolCalled(this.#calls.ofArguments(event))
      case 'input_audio_buffer.speech_started':
        return this.#speechStarted(event.item_id, event.audio_start_ms)
      case 'input_audio_buffer.speech_stopped':
        return this.#speechStopped(event.audio_end_ms)
      case 'conversation.item.input_audio_transcription.completed':
        return this.#transcript(event.item_id, event.transcript)
      case 'conversation.item.input_audio_transcription.failed':
        return this.#transcript(event.item_id, unrecognisedText)
      case 'error':
        return this.#error(event.error)
      case 'session.created':
      case 'session.updated':
        return undefined
    }
  }

  #responseCreated(responseId: string): void {
    this.#askedAt = undefined
    this.#replies.settled()
    this.#responses.created(responseId)
  }

  #responseDone(response: FinishedResponse): void {
    this.#tokens.add(response.usage)
    for (const item of response.output ?? []) if (item) this.#toolCalled(this.#calls.ofItem(item))
    this.#utterances.responseDone(response.id)
    this.#emitEndings()
    const error = response.status === 'failed' ? response.status_details?.error : undefined
    if (error) this.#error(error)
    this.#askedAt = undefined
    if (response.status === 'failed') {
      this.#responses.failed(response.id)
      return this.#replies.failed()
    }
    this.#replies.completed()
    this.#responses.done(response.id)
  }

  #toolCalled(call: Extract<VoiceEvent, { type: 'tool_call' }> | undefined): void {
    if (!call) return
    this.#tools.called(call.id)
    if (call.name === endingTool && this.#responses.inFlightId !== undefined)
      this.#endings.push(call)
    else this.#emit(call)
  }

  #speechStarted(itemId: string, reportedMs: unknown): void {
    const atMs = this.#speech.started(itemId, reportedMs, this.#heardMs)
    this.#itemsOfSpeech.set(atMs, itemId)
    this.#replies.settled()
    this.#emit({ type: 'speech_start', atMs })
  }

  #speechStopped(reportedMs: unknown): void {
    // A server begins no response by itself while another is in flight.
    if (this.#options.session.turns === 'loop') this.#replies.settled()
    else if (this.#responses.inFlightId !== undefined) this.#responses.oweReply()
    else this.#replies.expect()
    this.#emit({ type: 'speech_stop', atMs: this.#speech.stopped(reportedMs, this.#heardMs) })
  }

  #transcript(itemId: string, transcript: string): void {
    const startMs = this.#speech.takeStart(itemId, this.#heardMs)
    const text = transcript.trim()
    // Noise, which needs no reply.
    if (text === '') this.#replies.settled()
    this.#emit({ type: 'contact_text', text, startMs })
  }

  #error(error: ProtocolError): void {
    const code = codeOf(error)
    if (endsSession(code)) return this.#lose(code, error.message ?? '')
    if (code === 'conversation_already_has_active_response')
      return this.#responses.refused(error.event_id ?? undefined)
    const { logger, session } = this.#options
    logger.debug({ call_id: session.callId, code }, 'a voice engine refused an event')
    this.#emit({ type: 'error', fatal: false, code, message: error.message ?? '' })
  }

  #checkResponse(): void {
    const askedForMs = this.#askedAt === undefined ? 0 : performance.now() - this.#askedAt
    const isInFlight = this.#responses.inFlightId !== undefined
    const waitedMs = isInFlight ? this.#connection.silentForMs : askedForMs
    if (waitedMs > responseLimitMs) this.#lose('response_timeout', 'The server gives no reply.')
  }

  #lose(code: string, message: string): void {
    if (this.#isOver) return
    const { logger, session, onLost } = this.#options
    logger.warn({ call_id: session.callId, code }, 'a voice engine session broke')
    this.#utterances.breakOff()
    this.#emitEndings()
    this.#end()
    this.#connection.terminate()
    onLost(lossOf(code, message))
  }

  #end(): void {
    this.#isOver = true
    this.#replies.stop()
  }

  #emitEndings(): void {
    for (const call of this.#endings.splice(0)) this.#emit(call)
  }

  #emit(event: VoiceEvent): void {
    if (!this.#isOver) this.#options.onEvent(event)
  }
}
