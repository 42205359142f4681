import type { Logger } from '../../../runtime/logger.ts'
import {
  unrecognisedText,
  type EngineUsage,
  type SessionOptions,
  type VoiceEvent,
} from '../../voice-engine.ts'
import { createAgentUtterances } from './agent-utterances.ts'
import { createAnswerWatch } from './answer-watch.ts'
import { createHeardAudio } from './heard-audio.ts'
import { createLinkSocket } from './link-socket.ts'
import type { OpenedLink } from './open-link.ts'
import {
  parseObject,
  parseServerEvent,
  verbatimInstructions,
  type ClientEvent,
  type FinishedResponse,
  type OutputItem,
  type ProtocolError,
  type ServerEvent,
} from './protocol.ts'
import { createResponseSequencer } from './response-sequencer.ts'
import { createToolAnswers } from './tool-answers.ts'

/** One session of the protocol over one socket. A conversation may outlive several of them. */
export interface RealtimeLink {
  hear(frame: Uint8Array): void
  say(text: string): void
  interrupt(utteranceId: string, playedMs: number): void
  toolResult(toolCallId: string, result: unknown, goOn?: boolean): void
  /** Puts something into the conversation that the model is not to answer by itself. */
  remember(items: readonly object[]): void
  /** The conversation holds something the model is to answer, if it does not by itself. */
  goOn(): void
  /** No response is in flight or waited for, and no tool is. */
  readonly isIdle: boolean
  /** Whether the agent was in the middle of an utterance of its own words. */
  readonly isSpeaking: boolean
  /** Since the server last said anything, milliseconds. */
  readonly silentForMs: number
  /** Texts that were to be said word for word and were not, or not to their end. */
  readonly unsaid: readonly string[]
  usage(): EngineUsage
  /** Within two seconds; safe twice. */
  close(): Promise<void>
}

export interface RealtimeLinkListener {
  /** Never `error` with `fatal`. Times are of what this link has heard. */
  onEvent(event: VoiceEvent): void
  /** The link broke; nothing comes after. Called once at most, and not after `close`. */
  onLost(loss: LinkLoss): void
}

export interface LinkLoss {
  readonly code: string
  readonly message: string
  /** Another link would fare no better. */
  readonly isFinal: boolean
}

const frameMs = 20
/** A response that was asked for and has not begun, or has begun and is silent, for longer than this never comes. */
const responseLimitMs = 12_000
/** Ends the call once the answer it belongs to was heard: some models call it before they say goodbye. */
const endingTool = 'end_call'
/** What the server says of speech is remembered until its words arrive. */
const maxSpeechStarts = 32

/** Refusals after which no session is to be had; every other `error` event is a hiccup or, if it is the end, mended. */
const finalCodes = new Set([
  'invalid_api_key',
  'insufficient_quota',
  'model_not_found',
  'account_deactivated',
  'response_failed',
])

/** Owns the socket from here on. */
export const createRealtimeLink = (
  { socket, wire }: Pick<OpenedLink, 'socket' | 'wire'>,
  { codec, callId }: Pick<SessionOptions, 'codec' | 'callId'>,
  listener: RealtimeLinkListener,
  logger: Logger,
): RealtimeLink => {
  const speechStarts = new Map<string, number>()
  const endings: VoiceEvent[] = []
  let framesHeard = 0
  let inputTokens = 0
  let outputTokens = 0
  let isOver = false
  let askedAt: number | undefined
  let closing: Promise<void> | undefined

  const emit = (event: VoiceEvent): void => {
    if (!isOver) listener.onEvent(event)
  }

  const connection = createLinkSocket(socket, {
    onMessage: (text) => {
      const event = parseServerEvent(text)
      if (event) handle(event)
    },
    onLost: (code, message) => lose(code, message),
    onCheck: () => {
      if (isResponseLate()) lose('response_timeout', 'The server gives no answer.')
    },
  })
  const send = (event: ClientEvent): void => connection.send(event)
  const heard = createHeardAudio(codec, wire, (message) => connection.sendAudio(message))
  const utterances = createAgentUtterances(codec, wire, emit)
  const responses = createResponseSequencer((eventId, response) => {
    askedAt = performance.now()
    send({ type: 'response.create', event_id: eventId, ...(response && { response }) })
  })
  const tools = createToolAnswers(send, () => responses.oweAnswer())
  const answers = createAnswerWatch({
    ask: () => responses.oweAnswer(),
    retry: () => responses.resume(),
    giveUp: () => lose('response_failed', 'The server fails to answer.'),
  })

  const over = (): void => {
    isOver = true
    answers.stop()
  }

  const lose = (code: string, message: string): void => {
    if (isOver) return
    logger.warn({ call_id: callId, code }, 'a voice engine session broke')
    utterances.breakOff()
    emitEndings()
    over()
    connection.terminate()
    listener.onLost({ code, message, isFinal: finalCodes.has(code) })
  }

  const emitEndings = (): void => {
    for (const call of endings.splice(0)) emit(call)
  }

  const handleError = (error: ProtocolError): void => {
    const code = error.code ?? error.type ?? 'unknown'
    if (finalCodes.has(code) || code === 'session_expired') return lose(code, error.message ?? '')
    if (code === 'conversation_already_has_active_response') {
      return responses.refused(error.event_id ?? undefined)
    }
    logger.debug({ call_id: callId, code }, 'a voice engine refused an event')
    emit({ type: 'error', fatal: false, code, message: error.message ?? '' })
  }

  const handleResponseDone = (response: FinishedResponse): void => {
    inputTokens += response.usage?.input_tokens ?? 0
    outputTokens += response.usage?.output_tokens ?? 0
    utterances.responseDone(response.id)
    emitEndings()
    const error = response.status === 'failed' ? response.status_details?.error : undefined
    if (error) handleError(error)
    askedAt = undefined
    if (response.status === 'failed') {
      responses.failed(response.id)
      return answers.failed()
    }
    answers.completed()
    responses.done(response.id)
  }

  const handleOutputItem = (item: OutputItem): void => {
    if (item.type !== 'function_call' || !item.call_id || !item.name) return
    tools.called(item.call_id)
    const call: VoiceEvent = {
      type: 'tool_call',
      id: item.call_id,
      name: item.name,
      arguments: parseObject(item.arguments ?? '{}') ?? {},
    }
    if (item.name === endingTool && responses.inFlightId !== undefined) endings.push(call)
    else emit(call)
  }

  const handleSpeechStarted = (itemId: string, atMs: number): void => {
    speechStarts.set(itemId, atMs)
    const [oldest] = speechStarts.keys()
    if (speechStarts.size > maxSpeechStarts && oldest !== undefined) speechStarts.delete(oldest)
    answers.settled()
    emit({ type: 'speech_start', atMs })
  }

  const handleSpeechStopped = (atMs: number): void => {
    // A server begins no response by itself while another is in flight.
    if (responses.inFlightId !== undefined) responses.oweAnswer()
    else answers.expect()
    emit({ type: 'speech_stop', atMs })
  }

  const handleTranscript = (itemId: string, transcript: string): void => {
    const startMs = speechStarts.get(itemId) ?? framesHeard * frameMs
    speechStarts.delete(itemId)
    const text = transcript.trim()
    // Noise, to which nobody has to answer.
    if (text === '') answers.settled()
    emit({ type: 'contact_text', text, startMs })
  }

  const handle = (event: ServerEvent): void => {
    switch (event.type) {
      case 'response.output_audio.delta':
        return utterances.audio(event.item_id, event.response_id, event.delta)
      case 'response.output_audio.done':
        return utterances.audioDone(event.item_id)
      case 'response.output_audio_transcript.delta':
        return utterances.text(event.item_id, event.response_id, event.delta)
      case 'response.output_audio_transcript.done':
        return utterances.textDone(event.item_id, event.response_id, event.transcript)
      case 'response.created':
        askedAt = undefined
        answers.settled()
        return responses.created(event.response.id)
      case 'response.done':
        return handleResponseDone(event.response)
      case 'response.output_item.done':
        return handleOutputItem(event.item)
      case 'input_audio_buffer.speech_started':
        return handleSpeechStarted(event.item_id, event.audio_start_ms)
      case 'input_audio_buffer.speech_stopped':
        return handleSpeechStopped(event.audio_end_ms)
      case 'conversation.item.input_audio_transcription.completed':
        return handleTranscript(event.item_id, event.transcript)
      case 'conversation.item.input_audio_transcription.failed':
        return handleTranscript(event.item_id, unrecognisedText)
      case 'error':
        return handleError(event.error)
      case 'session.created':
      case 'session.updated':
        return undefined
    }
  }

  const isResponseLate = (): boolean => {
    const askedForMs = askedAt === undefined ? 0 : performance.now() - askedAt
    const waitedMs = responses.inFlightId === undefined ? askedForMs : connection.silentForMs
    return waitedMs > responseLimitMs
  }

  const remember = (items: readonly object[]): void => {
    for (const item of items) send({ type: 'conversation.item.create', item })
  }

  return {
    hear(frame) {
      if (isOver) return
      framesHeard += 1
      heard.hear(frame)
    },
    say: (text) =>
      responses.request({ instructions: verbatimInstructions(text), tool_choice: 'none' }, text),
    remember,
    goOn: () => responses.oweAnswer(),
    interrupt(utteranceId, playedMs) {
      const interrupted = utterances.interrupt(utteranceId)
      if (!interrupted || isOver) return
      const { producedMs, responseId } = interrupted
      if (responses.inFlightId === responseId) {
        send({ type: 'response.cancel', response_id: responseId })
        responses.cancelled()
      }
      if (producedMs === 0) return
      send({
        type: 'conversation.item.truncate',
        item_id: utteranceId,
        content_index: 0,
        audio_end_ms: Math.max(0, Math.min(Math.floor(playedMs), producedMs)),
      })
    },
    toolResult: (toolCallId, result, goOn) => tools.answer(toolCallId, result, goOn),
    get isIdle() {
      return responses.isIdle && tools.isIdle
    },
    get isSpeaking() {
      return responses.inFlightId !== undefined && !responses.isVerbatim
    },
    get silentForMs() {
      return connection.silentForMs
    },
    get unsaid() {
      return responses.unsaid
    },
    usage: () => ({
      inputTokens,
      outputTokens,
      audioInMs: framesHeard * frameMs,
      audioOutMs: utterances.producedMs,
    }),
    close() {
      if (!isOver) over()
      return (closing ??= connection.close())
    },
  }
}
