import { frameMs, g711BytesPerMs } from '../../../audio/frame.ts'
import { decodeG711, g711FrameBytes } from '../../../audio/g711.ts'
import type { VoiceActivityDetector } from '../../../audio/voice-activity.ts'
import type { Logger } from '../../../runtime/logger.ts'
import { createEventQueue } from '../../engine/event-queue.ts'
import { phrasesFor, type Phrases } from '../../engine/phrases.ts'
import { createSpeechEar, type SpeechEar } from '../../engine/speech-ear.ts'
import { unrecognisedText } from '../../../call-text/unrecognised-text.ts'
import type {
  EngineUsage,
  LoopTurns,
  SessionOptions,
  VoiceEvent,
  VoiceSession,
} from '../../engine/voice-engine.ts'
import { createChatHistory } from './chat-history.ts'
import type { ChatModel } from './chat-model.ts'
import { BoundedMap } from '../../../runtime/bounded-map.ts'
import type { GuessBudget } from './guess-budget.ts'
import { PauseWatch } from './pause-watch.ts'
import { ProviderError, withRetries } from './provider-error.ts'
import type { Lineup } from './providers/lineup.ts'
import { Replying } from './replying.ts'
import { Speaker } from './speaker.ts'
import type { SpeechCache } from './speech-cache.ts'
import type { SpeechSynthesizer } from './synthesizers/synthesizer.ts'
import { FailoverTranscription } from './transcribers/failover-transcription.ts'
import { plainWords } from './transcribers/heard-text.ts'
import type { Speech, Transcriber, TurnHint } from './transcribers/transcriber.ts'
import { soundsUnfinished } from './unfinished-words.ts'

interface CascadeOptions {
  readonly transcribers: Lineup<Transcriber>
  readonly model: ChatModel
  /** Belongs to this session; closed by `close`. */
  readonly synthesizer: SpeechSynthesizer
  readonly cache: SpeechCache
  /** The keys of a clip of these words: of the present voice first, then of the other providers'. */
  cacheKeys(text: string): readonly string[]
  readonly budget: GuessBudget
  /** Belongs to this session; closed by `close`. */
  readonly voiceActivity: VoiceActivityDetector
  readonly options: SessionOptions
  readonly logger: Logger
}

const maxQueuedEvents = 4_000
/** Silence after which a stretch of speech is transcribed; without the loop's turns, the callee has finished. */
const endOfSpeechSilenceMs = 500
/** More stretches of one turn than a number has groups. */
const maxUnansweredTexts = 64
/** No callee speaks so fast that more than this waits for its words. */
const maxTranscriptions = 8
/** When the apology has been played, its last packets are still on their way. */
const apologyTailMs = 300

/** One conversation by three servers in a row: transcriber, chat model, synthesizer. */
export class CascadeSession implements VoiceSession {
  readonly #cascade: CascadeOptions
  readonly #phrases: Phrases
  readonly #queue = createEventQueue<VoiceEvent>(maxQueuedEvents)
  readonly #history = createChatHistory()
  readonly #closing = new AbortController()
  readonly #ear: SpeechEar
  readonly #pauses = new PauseWatch()
  readonly #transcription: FailoverTranscription
  readonly #speaker: Speaker
  readonly #replying: Replying
  readonly #samples = new Int16Array(g711FrameBytes)
  readonly loopTurns: LoopTurns | undefined
  /** What the callee said since the loop asked for a reply, by the time at which it began. */
  readonly #unanswered = new BoundedMap<number, string>({ maxSize: maxUnansweredTexts })
  readonly #tokens = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 }
  #framesHeard = 0
  #audioOutMs = 0
  #playedOutAtMs = 0
  #speechStartMs = 0
  #transcribing: Promise<void> = Promise.resolve()
  #transcriptions = 0
  #deafTurns = 0
  /** The words that the model was asked about before the turn had ended. */
  #guessed: string | undefined
  #isOver = false
  /** The engine broke: it reports the failure, and ends at this time of its heard audio. */
  #failure: { readonly error: ProviderError; readonly endAtMs: number } | undefined

  constructor(cascade: CascadeOptions) {
    const { options, model } = cascade
    const emit = (event: VoiceEvent): void => this.#emit(event)
    const { signal } = this.#closing
    this.#cascade = cascade
    this.#phrases = phrasesFor(options.language)
    if (options.turns === 'loop') this.loopTurns = this.#createLoopTurns()
    this.#ear = createSpeechEar(cascade.voiceActivity, endOfSpeechSilenceMs)
    this.#transcription = new FailoverTranscription(cascade.transcribers, {
      onWords: () => this.#guess(),
      onTurnHint: (hint) => this.#hinted(hint),
    })
    this.#speaker = new Speaker({
      codec: options.codec,
      synthesizer: cascade.synthesizer,
      cache: cascade.cache,
      cacheKeys: (text) => cascade.cacheKeys(text),
      phrases: this.#phrases,
      emit,
      signal,
    })
    this.#replying = new Replying({
      model,
      speaker: this.#speaker,
      history: this.#history,
      emit,
      isSpeaking: () => this.#ear.isHearing,
      isHearing: () => this.#ear.isHearing || this.#transcriptions > 0,
      onUsage: ({ inputTokens, outputTokens, cachedInputTokens }) => {
        this.#tokens.inputTokens += inputTokens
        this.#tokens.cachedInputTokens += cachedInputTokens ?? 0
        this.#tokens.outputTokens += outputTokens
      },
      onFailure: (error) => this.#giveUp(error),
      signal,
    })
  }

  get events(): AsyncIterable<VoiceEvent> {
    return this.#queue.events
  }

  /** Resolves when the first words are ready to play. Rejects with `ProviderError`, or with the signal's reason. */
  async begin(signal: AbortSignal): Promise<void> {
    const { oneMoment, technicalTrouble } = this.#phrases
    const greeting = this.#cascade.options.greeting.trim()
    this.#cascade.synthesizer.warm()
    await Promise.all([
      this.#transcription.open(signal),
      // Without a greeting the apology tests the voice.
      this.#speaker.prepare(greeting === '' ? technicalTrouble : greeting, signal),
    ])
    signal.throwIfAborted()
    if (greeting !== '') this.#replying.say(greeting)
    this.#speaker.prepareInBackground([oneMoment, technicalTrouble])
  }

  hear(frame: Uint8Array): void {
    if (this.#isOver) return
    this.#framesHeard += 1
    const failure = this.#failure
    if (failure && this.#heardMs >= failure.endAtMs) return this.#fail(failure.error)
    const { codec } = this.#cascade.options
    const heard = this.#ear.hear(decodeG711(codec, frame, this.#samples))
    this.#transcription.hear(frame, this.#ear.isHearing)
    if (!failure) this.#watchPauses()
    if (heard?.kind === 'started') this.#speechStarted(heard.atMs)
    if (heard?.kind === 'stopped' && !failure) this.#speechStopped(heard.atMs, heard)
  }

  say(text: string): void {
    if (!this.#isOver && !this.#failure) this.#replying.say(text)
  }

  pressed(digits: string): void {
    if (this.#isOver || this.#failure) return
    this.#history.contactSaid(`[The person pressed these keys on the telephone: ${digits}]`)
    this.#replying.owe()
  }

  interrupt(utteranceId: string, playedMs: number): void {
    const producedMs = this.#speaker.producedMs(utteranceId)
    const heardPart = producedMs > 0 ? Math.min(1, playedMs / producedMs) : 0
    this.#history.interrupted(utteranceId, heardPart)
    this.#playedOutAtMs = this.#heardMs
    this.#queue.drop((event) => event.type === 'audio' && event.utteranceId === utteranceId)
    this.#replying.interrupt(utteranceId)
  }

  toolResult(toolCallId: string, result: unknown, goOn = true): void {
    this.#replying.toolResult(toolCallId, result, goOn)
  }

  close(): Promise<EngineUsage> {
    if (!this.#isOver) {
      this.#isOver = true
      this.#queue.end()
      this.#replying.stop()
      this.#closing.abort()
    }
    this.#letGo()
    return Promise.resolve({
      ...this.#tokens,
      audioInMs: this.#heardMs,
      audioOutMs: Math.floor(this.#audioOutMs),
    })
  }

  #createLoopTurns(): LoopTurns {
    return {
      needsWords: true,
      reply: () => this.#answer(),
      dismiss: (startMs) => {
        this.#unanswered.delete(startMs)
        this.#replying.goOn()
      },
    }
  }

  #answer(): void {
    if (this.#isOver || this.#failure) return
    const texts = [...this.#unanswered].map(([, text]) => text)
    this.#history.contactSaid(texts.length > 0 ? texts.join(' ') : unrecognisedText)
    this.#unanswered.clear()
    this.#replying.expect()
    this.#replying.owe()
  }

  get #heardMs(): number {
    return this.#framesHeard * frameMs
  }

  #speechStarted(atMs: number): void {
    this.#speechStartMs = atMs
    this.#emit({ type: 'speech_start', atMs })
    this.#replying.contactSpeaks()
  }

  #watchPauses(): void {
    const change = this.#pauses.hear(this.#ear.isVoiced, this.#ear.isHearing)
    if (change === 'paused' || change === 'long_pause') this.#paused()
    if (change === 'resumed') this.#resumed()
  }

  #paused(): void {
    if (this.loopTurns || !this.#cascade.budget.mayGuess || !this.#seemsOver) return
    this.#transcription.hurry(this.#ear.soFar())
    this.#guess()
  }

  /** A whole sentence needs less silence after it than other words. */
  get #seemsOver(): boolean {
    const { isPaused, isLong } = this.#pauses
    return isLong || (isPaused && /[.!?。！？]$/u.test(this.#transcription.words))
  }

  #resumed(): void {
    this.#guessed = undefined
    this.#replying.dropGuess()
  }

  #hinted(hint: TurnHint): void {
    if (!this.#ear.isHearing) return
    if (hint === 'resumed') this.#resumed()
    else this.#guess(true)
  }

  /** Asks the model ahead of time, if the callee seems to have finished. */
  #guess(isHinted = this.#seemsOver): void {
    if (this.loopTurns) return
    const { budget } = this.#cascade
    const { words } = this.#transcription
    if (!isHinted || this.#isOver || this.#failure || this.#transcriptions > 0) return
    if (words === '' || soundsUnfinished(words) || !budget.mayGuess) return
    if (this.#guessed !== undefined) {
      if (plainWords(this.#guessed) === plainWords(words)) return
      this.#resumed()
    }
    if (!this.#replying.guess(words)) return
    this.#guessed = words
    budget.spend()
  }

  #speechStopped(atMs: number, speech: Speech): void {
    this.#emit({ type: 'speech_stop', atMs })
    const startMs = this.#speechStartMs
    if (this.#transcriptions >= maxTranscriptions)
      return this.#emit({ type: 'contact_text', text: '', startMs })
    this.#transcriptions += 1
    if (!this.loopTurns) this.#replying.expect()
    this.#transcribing = this.#transcribing.then(() => this.#understand(speech, startMs))
  }

  async #understand(speech: Speech, startMs: number): Promise<void> {
    try {
      const text = await this.#transcribe(speech)
      this.#deafTurns = 0
      this.#transcriptions -= 1
      this.#emit({ type: 'contact_text', text, startMs })
      this.#understood(text, startMs)
    } catch (error) {
      this.#transcriptions -= 1
      this.#notUnderstood(startMs, error)
    }
  }

  #transcribe(speech: Speech): Promise<string> {
    const { signal } = this.#closing
    return withRetries(() => this.#transcription.finish(speech, signal), signal)
  }

  #understood(text: string, startMs: number): void {
    const { budget } = this.#cascade
    const hasGuessed = this.#guessed !== undefined
    this.#guessed = undefined
    if (text === '') {
      this.#replying.dropGuess()
      return this.#replying.goOn()
    }
    if (this.loopTurns) return this.#unanswered.set(startMs, text)
    budget.turnEnded()
    if (hasGuessed && this.#replying.confirm(text)) return budget.giveBack()
    this.#history.contactSaid(text)
    this.#replying.owe()
  }

  /**
   * The transcriber failed. The agent once asks the callee to repeat; after the second failure in a row the engine
   * gives up.
   */
  #notUnderstood(startMs: number, error: unknown): void {
    if (this.#isOver) return
    this.#guessed = undefined
    this.#replying.dropGuess()
    this.#emit({ type: 'contact_text', text: unrecognisedText, startMs })
    this.#deafTurns += 1
    if (this.#deafTurns === 1) return this.#replying.say(this.#phrases.pardon)
    this.#giveUp(error instanceof ProviderError ? error : broken(error))
  }

  #emit(event: VoiceEvent): void {
    if (this.#isOver) return
    if (event.type === 'audio') {
      const lengthMs = event.g711.length / g711BytesPerMs
      this.#audioOutMs += lengthMs
      this.#playedOutAtMs = Math.max(this.#playedOutAtMs, this.#heardMs) + lengthMs
    }
    if (!this.#queue.push(event))
      this.#fail(new ProviderError('slow_consumer', 'The events are not taken.'))
  }

  /** Tells the callee that the call cannot go on, if a voice works, and ends afterwards. */
  #giveUp(error: ProviderError): void {
    if (this.#isOver || this.#failure) return
    const { logger, options } = this.#cascade
    const fields = { call_id: options.callId, code: error.code, err: error }
    logger.warn(fields, 'a cascade of models broke')
    this.#failure = { error, endAtMs: Infinity }
    this.#replying.stop()
    if (this.#speaker.apologise() === 0) return this.#fail(error)
    // The apology follows the current speech.
    this.#failure = { error, endAtMs: this.#playedOutAtMs + apologyTailMs }
  }

  /** The error is the last event of this session. */
  #fail({ code, message }: ProviderError): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#queue.push({ type: 'error', fatal: true, code, message })
    this.#queue.end()
    this.#closing.abort()
    this.#letGo()
  }

  #letGo(): void {
    this.#transcription.close()
    this.#cascade.synthesizer.close()
    this.#cascade.voiceActivity.close()
  }
}

const broken = (cause: unknown): ProviderError =>
  new ProviderError('engine_failed', 'The engine broke.', { cause })
