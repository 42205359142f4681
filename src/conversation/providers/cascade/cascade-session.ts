import { decodeG711, g711FrameBytes } from '../../../audio/g711.ts'
import type { VoiceActivityDetector } from '../../../audio/voice-activity.ts'
import type { Logger } from '../../../runtime/logger.ts'
import { createEventQueue } from '../../event-queue.ts'
import { phrasesFor } from '../../phrases.ts'
import { createSpeechEar } from '../../speech-ear.ts'
import {
  unrecognisedText,
  type SessionOptions,
  type VoiceEvent,
  type VoiceSession,
} from '../../voice-engine.ts'
import { createAnswering } from './answering.ts'
import { createChatHistory } from './chat-history.ts'
import type { ChatModel } from './chat-model.ts'
import { ProviderError, withRetries } from './provider-error.ts'
import { createSpeaker } from './speaker.ts'
import type { SpeechCache } from './speech-cache.ts'
import type { SpeechServer } from './speech-server.ts'
import type { Speech, Transcriber } from './transcriber.ts'

export interface CascadeOptions {
  readonly transcriber: Transcriber
  readonly model: ChatModel
  readonly speechServer: SpeechServer
  readonly cache: SpeechCache
  /** What a clip of these words is kept under. */
  cacheKey(text: string): string
  /** Of this session alone; closed by `close`. */
  readonly voiceActivity: VoiceActivityDetector
  readonly options: SessionOptions
  readonly logger: Logger
}

export interface CascadeSession extends VoiceSession {
  /** Resolves when the first words can be heard. Rejects with `ProviderError`, or as the signal says. */
  begin(signal: AbortSignal): Promise<void>
}

const frameMs = 20
const maxQueuedEvents = 4_000
/** Silence after which the callee is taken to have finished. */
const endOfTurnSilenceMs = 500
/** Nobody speaks so fast that more than this waits for its words. */
const maxTranscriptions = 8
const bytesPerMs = 8
/** The last packets of the apology are still on their way when it was played. */
const apologyTailMs = 300

export const createCascadeSession = (cascade: CascadeOptions): CascadeSession => {
  const { options, logger, transcriber } = cascade
  const { codec, callId } = options
  const phrases = phrasesFor(options.language)
  const queue = createEventQueue<VoiceEvent>(maxQueuedEvents)
  const history = createChatHistory()
  const closing = new AbortController()
  const ear = createSpeechEar(cascade.voiceActivity, endOfTurnSilenceMs)
  const samples = new Int16Array(g711FrameBytes)
  let framesHeard = 0
  let audioOutMs = 0
  let playedOutAtMs = 0
  let isOver = false
  let transcribing: Promise<void> = Promise.resolve()
  let transcriptions = 0
  let deafTurns = 0
  let inputTokens = 0
  let outputTokens = 0
  let endAtMs: number | undefined
  let failure: ProviderError | undefined

  const heardMs = (): number => framesHeard * frameMs

  const emit = (event: VoiceEvent): void => {
    if (isOver) return
    if (event.type === 'audio') {
      const lengthMs = event.g711.length / bytesPerMs
      audioOutMs += lengthMs
      playedOutAtMs = Math.max(playedOutAtMs, heardMs()) + lengthMs
    }
    if (!queue.push(event)) {
      end(new ProviderError('slow_consumer', 'Nobody takes the events.'))
    }
  }

  /** The error is the last thing anybody hears of this session. */
  const end = ({ code, message }: ProviderError): void => {
    if (isOver) return
    isOver = true
    queue.push({ type: 'error', fatal: true, code, message })
    queue.end()
    closing.abort()
  }

  /** Says so, if there is a voice to say it with, and ends when it was heard. */
  const giveUp = (error: ProviderError): void => {
    if (isOver || failure) return
    failure = error
    logger.warn({ call_id: callId, code: error.code, err: error }, 'a cascade of models broke')
    answering.stop()
    if (speaker.apologise() === 0) return end(error)
    // It comes after what is still being heard.
    endAtMs = playedOutAtMs + apologyTailMs
  }

  const speaker = createSpeaker({
    codec,
    server: cascade.speechServer,
    cache: cascade.cache,
    cacheKey: (text) => cascade.cacheKey(text),
    phrases,
    emit,
    signal: closing.signal,
  })

  const answering = createAnswering({
    model: cascade.model,
    speaker,
    history,
    emit,
    isSpeaking: () => ear.isHearing,
    isHearing: () => ear.isHearing || transcriptions > 0,
    onUsage: (usage) => {
      inputTokens += usage.inputTokens
      outputTokens += usage.outputTokens
    },
    onFailure: giveUp,
    signal: closing.signal,
  })

  const transcribe = (speech: Speech): Promise<string> =>
    withRetries(() => transcriber.transcribe(speech, closing.signal), closing.signal)

  const understand = async (speech: Speech, startMs: number): Promise<void> => {
    try {
      const text = await transcribe(speech)
      deafTurns = 0
      transcriptions -= 1
      emit({ type: 'contact_text', text, startMs })
      if (text !== '') {
        history.contactSaid(text)
        answering.owe()
      } else answering.goOn()
    } catch (error) {
      transcriptions -= 1
      if (isOver) return
      emit({ type: 'contact_text', text: unrecognisedText, startMs })
      deafTurns += 1
      const cause = error instanceof ProviderError ? error : broken(error)
      if (deafTurns > 1) giveUp(cause)
      else answering.say(phrases.pardon)
    }
  }

  let speechStartMs = 0
  const hear = (frame: Uint8Array): void => {
    framesHeard += 1
    if (endAtMs !== undefined && failure && heardMs() >= endAtMs) return end(failure)
    const heard = ear.hear(decodeG711(codec, frame, samples))
    if (heard?.kind === 'started') {
      speechStartMs = heard.atMs
      emit({ type: 'speech_start', atMs: heard.atMs })
      answering.contactSpeaks()
    }
    if (heard?.kind !== 'stopped' || failure) return
    emit({ type: 'speech_stop', atMs: heard.atMs })
    const startMs = speechStartMs
    if (transcriptions >= maxTranscriptions)
      return emit({ type: 'contact_text', text: '', startMs })
    transcriptions += 1
    answering.expect()
    transcribing = transcribing.then(() => understand(heard, startMs))
  }

  const usage = () => ({
    inputTokens,
    outputTokens,
    audioInMs: heardMs(),
    audioOutMs: Math.floor(audioOutMs),
  })

  return {
    events: queue.events,
    async begin(signal) {
      const greeting = options.greeting.trim()
      // Without a greeting the apology tells whether there is a voice.
      await speaker.prepare(greeting === '' ? phrases.technicalTrouble : greeting, signal)
      signal.throwIfAborted()
      if (greeting !== '') answering.say(greeting)
      speaker.prepareInBackground([phrases.oneMoment, phrases.technicalTrouble])
    },
    hear(frame) {
      if (!isOver) hear(frame)
    },
    say(text) {
      if (!isOver && !failure) answering.say(text)
    },
    pressed(digits) {
      if (isOver || failure) return
      history.contactSaid(`[The person pressed these keys on the telephone: ${digits}]`)
      answering.owe()
    },
    interrupt(utteranceId, playedMs) {
      const producedMs = speaker.producedMs(utteranceId)
      history.interrupted(utteranceId, producedMs > 0 ? Math.min(1, playedMs / producedMs) : 0)
      playedOutAtMs = heardMs()
      queue.drop((event) => event.type === 'audio' && event.utteranceId === utteranceId)
      answering.interrupt(utteranceId)
    },
    toolResult: (toolCallId, result, goOn = true) => answering.toolResult(toolCallId, result, goOn),
    close() {
      if (!isOver) {
        isOver = true
        queue.end()
        answering.stop()
        closing.abort()
      }
      cascade.voiceActivity.close()
      return Promise.resolve(usage())
    },
  }
}

const broken = (cause: unknown): ProviderError =>
  new ProviderError('engine_failed', 'The engine broke.', { cause })
