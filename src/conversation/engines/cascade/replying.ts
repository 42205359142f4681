import type { ModelMessage } from 'ai'
import type { TokenUsage, VoiceEvent } from '../../engine/voice-engine.ts'
import type { ChatHistory, ToolCall } from './chat-history.ts'
import type { ChatModel } from './chat-model.ts'
import { OpenTools } from './open-tools.ts'
import { ProviderError, withRetries } from './provider-error.ts'
import { speakReply } from './reply-step.ts'
import type { Speaker } from './speaker.ts'
import { SpeakingTask } from './speaking-task.ts'
import { plainWords } from './transcribers/heard-text.ts'

interface ReplyingOptions {
  readonly model: ChatModel
  readonly speaker: Speaker
  readonly history: ChatHistory
  readonly emit: (event: VoiceEvent) => void
  /** Whether the callee is speaking. */
  readonly isSpeaking: () => boolean
  /** Whether the callee is speaking, or their words are outstanding. */
  readonly isHearing: () => boolean
  readonly onUsage: (usage: TokenUsage) => void
  /** The engine can no longer reply or speak. */
  onFailure(error: ProviderError): void
  readonly signal: AbortSignal
}

/** With the silence that ends a turn, a filler comes before 2 s without a word. */
const fillAfterMs = 1_300
const fillAgainMs = 1_900
const maxFillers = 3
/** A reply that broke off is continued so often. */
const maxContinuations = 2
/** A model that calls tools in an endless loop is stopped. */
const maxSteps = 8
const maxWaitingTexts = 8

interface Reply {
  readonly task: SpeakingTask
  isHeard: boolean
  /** The words that are replied to before the turn has ended; undefined once it has. */
  guess: string | undefined
  readonly confirmed: PromiseWithResolvers<void>
}

const cutOff: ModelMessage = {
  role: 'user',
  content:
    '[The connection broke in the middle of your sentence. Continue where your last words end, and do not repeat them.]',
}

/** Requests one reply at a time from the model, and speaks it. */
export class Replying {
  readonly #options: ReplyingOptions
  readonly #tools: OpenTools
  readonly #stopped = new AbortController()
  readonly #saying = new Set<SpeakingTask>()
  #reply: Reply | undefined
  #isOwed = false
  #filler: NodeJS.Timeout | undefined

  constructor(options: ReplyingOptions) {
    this.#options = options
    this.#tools = new OpenTools(options.history, options.emit)
  }

  /** The callee has finished speaking: from now on a filler follows a long silence. */
  expect(): void {
    this.#fillAfter(fillAfterMs, maxFillers)
  }

  /** Asks for a reply to what the callee may have finished to say; nothing is heard of it before `confirm`. */
  guess(words: string): boolean {
    if (this.#reply || this.#isOwed || this.#isStopped || this.#saying.size > 0) return false
    this.#begin(words)
    return true
  }

  /** The turn has ended with these words. Returns whether the guess replies to them. */
  confirm(text: string): boolean {
    const reply = this.#reply
    if (reply?.guess === undefined) return false
    if (plainWords(reply.guess) !== plainWords(text)) {
      this.dropGuess()
      return false
    }
    reply.guess = undefined
    this.#options.history.contactSaid(text)
    reply.confirmed.resolve()
    return true
  }

  /** The callee goes on: the reply to the guess is thrown away unheard. */
  dropGuess(): void {
    if (this.#reply?.guess === undefined) return
    this.#reply.task.giveUp()
    this.#reply = undefined
  }

  /** The conversation has new content: a reply follows as soon as neither side is speaking. */
  owe(): void {
    this.dropGuess()
    this.#isOwed = true
    this.#pump()
  }

  /** The callee made a sound, but said nothing new. */
  goOn(): void {
    if (!this.#reply && !this.#isOwed) clearTimeout(this.#filler)
    this.#pump()
  }

  /** Makes the agent say this text after its current speech. */
  say(text: string): void {
    if (this.#isStopped || this.#saying.size >= maxWaitingTexts) return
    const task = this.#createTask()
    this.#saying.add(task)
    void this.#say(task, text).finally(() => {
      task.close()
      this.#saying.delete(task)
    })
  }

  /** The callee has begun to speak: the model starts again if the callee has heard nothing of its reply. */
  contactSpeaks(): void {
    clearTimeout(this.#filler)
    this.dropGuess()
    if (!this.#reply || this.#reply.isHeard || this.#tools.isWaiting) return
    this.#reply.task.giveUp()
    this.#reply = undefined
    this.#isOwed = true
  }

  interrupt(utteranceId: string): void {
    if (this.#reply?.task.utteranceId === utteranceId) {
      this.#reply.task.giveUp()
      this.#reply = undefined
    }
    for (const task of this.#saying) if (task.utteranceId === utteranceId) task.giveUp()
    this.#pump()
  }

  toolResult(toolCallId: string, value: unknown, goOn: boolean): void {
    this.#tools.settle(toolCallId, value, goOn)
  }

  /** Aborts every reply; none follows. */
  stop(): void {
    this.#stopped.abort()
    clearTimeout(this.#filler)
    this.#reply?.task.giveUp()
    for (const task of this.#saying) task.giveUp()
  }

  get #isStopped(): boolean {
    return this.#stopped.signal.aborted
  }

  #createTask(): SpeakingTask {
    const { speaker, history, signal } = this.#options
    const task = new SpeakingTask(speaker, history, signal)
    if (this.#isStopped) task.giveUp()
    return task
  }

  #fillAfter(ms: number, fillers: number): void {
    const { speaker, signal, isSpeaking } = this.#options
    clearTimeout(this.#filler)
    if (fillers === 0) return
    this.#filler = setTimeout(() => {
      if (isSpeaking() || signal.aborted) return
      this.#fillAfter(speaker.fill() + fillAgainMs, fillers - 1)
    }, ms)
  }

  #pump(): void {
    if (this.#reply || !this.#isOwed || this.#isStopped || this.#options.isHearing()) return
    this.#isOwed = false
    this.#begin(undefined)
  }

  #begin(guess: string | undefined): void {
    const confirmed = Promise.withResolvers<void>()
    if (guess === undefined) confirmed.resolve()
    const reply: Reply = { task: this.#createTask(), isHeard: false, guess, confirmed }
    this.#reply = reply
    // A reply that is thrown away waits for nothing.
    reply.task.signal.addEventListener('abort', () => confirmed.resolve(), { once: true })
    void this.#giveReply(reply)
  }

  async #giveReply(reply: Reply): Promise<void> {
    const { signal } = reply.task
    try {
      await this.#takeSteps(reply)
    } catch (error) {
      // The turn asks again when it has ended.
      const isGuess = reply.guess !== undefined
      if (!signal.aborted && !isGuess) this.#options.onFailure(asProviderError(error))
    } finally {
      reply.task.close()
      if (this.#reply === reply) this.#reply = undefined
      this.#pump()
    }
  }

  async #takeSteps(reply: Reply): Promise<void> {
    for (let steps = 0; steps < maxSteps; steps += 1) {
      const calls = await this.#takeStep(reply)
      if (calls.length === 0 || !(await this.#tools.run(calls, reply.task.signal))) return
    }
  }

  /** One request: again if it fails unheard, continued if it breaks off. */
  async #takeStep(reply: Reply): Promise<readonly ToolCall[]> {
    const { history } = this.#options
    const { guess, task } = reply
    let isHeard = false
    const onHeard = (): void => {
      isHeard = true
      reply.isHeard = true
      clearTimeout(this.#filler)
    }
    const said: readonly ModelMessage[] =
      guess === undefined ? [] : [{ role: 'user', content: guess }]
    let continuations = 0
    const ask = (): Promise<readonly ToolCall[]> => {
      // Once confirmed, the history has the words.
      const more = reply.guess === undefined ? [] : said
      const messages = [...history.messages(), ...more, ...(continuations > 0 ? [cutOff] : [])]
      const confirmed = reply.confirmed.promise
      isHeard = false
      return speakReply(task, { ...this.#options, messages, confirmed, onHeard })
    }
    return withRetries(ask, task.signal, () => {
      if (!isHeard) return true
      continuations += 1
      return continuations <= maxContinuations
    })
  }

  async #say(task: SpeakingTask, text: string): Promise<void> {
    try {
      const spoken = await task.begin()
      const speech = this.#options.speaker.speech(text, task.signal)
      await spoken.speak(speech, () => clearTimeout(this.#filler))
      task.end()
    } catch (error) {
      task.fail()
      if (!task.signal.aborted) this.#options.onFailure(asProviderError(error))
    }
  }
}

const asProviderError = (error: unknown): ProviderError =>
  error instanceof ProviderError
    ? error
    : new ProviderError('engine_failed', 'The engine broke.', { cause: error })
