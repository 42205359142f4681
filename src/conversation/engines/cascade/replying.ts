import type { VoiceEvent } from '../../engine/voice-engine.ts'
import type { ChatHistory } from './chat-history.ts'
import type { ChatModel } from './chat-model.ts'
import { OpenTools } from './open-tools.ts'
import { ProviderError, withRetries } from './provider-error.ts'
import { speakReply } from './reply-step.ts'
import type { Speaker } from './speaker.ts'
import { SpeakingTask } from './speaking-task.ts'

interface ReplyingOptions {
  readonly model: ChatModel
  readonly speaker: Speaker
  readonly history: ChatHistory
  readonly emit: (event: VoiceEvent) => void
  /** Whether the callee is speaking. */
  readonly isSpeaking: () => boolean
  /** Whether the callee is speaking, or their words are outstanding. */
  readonly isHearing: () => boolean
  readonly onUsage: (usage: { readonly inputTokens: number; readonly outputTokens: number }) => void
  /** The engine can no longer reply or speak. */
  onFailure(error: ProviderError): void
  readonly signal: AbortSignal
}

/** A filler follows a longer silence. */
const fillAfterMs = 2_000
/** A model that calls tools in an endless loop is stopped. */
const maxSteps = 8
const maxWaitingTexts = 8

interface Reply {
  readonly task: SpeakingTask
  isHeard: boolean
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
    const { speaker, signal, isSpeaking } = this.#options
    clearTimeout(this.#filler)
    this.#filler = setTimeout(() => {
      if (!isSpeaking() && !signal.aborted) speaker.fill()
    }, fillAfterMs)
  }

  /** The conversation has new content: a reply follows as soon as neither side is speaking. */
  owe(): void {
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

  #pump(): void {
    if (this.#reply || !this.#isOwed || this.#isStopped || this.#options.isHearing()) return
    this.#isOwed = false
    const reply = { task: this.#createTask(), isHeard: false }
    this.#reply = reply
    void this.#giveReply(reply)
  }

  async #giveReply(reply: Reply): Promise<void> {
    const { signal } = reply.task
    try {
      await withRetries(
        () => this.#takeSteps(reply),
        signal,
        () => !reply.isHeard,
      )
    } catch (error) {
      if (!signal.aborted) this.#options.onFailure(asProviderError(error))
    } finally {
      reply.task.close()
      if (this.#reply === reply) this.#reply = undefined
      this.#pump()
    }
  }

  async #takeSteps(reply: Reply): Promise<void> {
    const onHeard = (): void => {
      reply.isHeard = true
      clearTimeout(this.#filler)
    }
    for (let steps = 0; steps < maxSteps; steps += 1) {
      const calls = await speakReply(reply.task, { ...this.#options, onHeard })
      if (calls.length === 0 || !(await this.#tools.run(calls, reply.task.signal))) return
    }
  }

  async #say(task: SpeakingTask, text: string): Promise<void> {
    try {
      const spoken = await task.begin()
      clearTimeout(this.#filler)
      await spoken.speak(text)
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
