import type { ChatHistory, ToolCall } from './chat-history.ts'
import type { Speaker, SpokenUtterance } from './speaker.ts'

/** One utterance to come: it can be aborted at any moment, and the task remembers its spoken part. */
export class SpeakingTask {
  readonly #speaker: Speaker
  readonly #history: ChatHistory
  readonly #abort = new AbortController()
  #spoken: SpokenUtterance | undefined

  /** @param signal aborts every task */
  constructor(speaker: Speaker, history: ChatHistory, signal: AbortSignal) {
    this.#speaker = speaker
    this.#history = history
    if (signal.aborted) this.#abort.abort()
    const onAbort = (): void => this.#abort.abort()
    signal.addEventListener('abort', onAbort, { once: true, signal: this.#abort.signal })
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** The current utterance; undefined without one. */
  get utteranceId(): string | undefined {
    return this.#spoken?.utterance.id
  }

  /** The current utterance, or a new one once the agent is silent. Rejects when the task is aborted. */
  async begin(): Promise<SpokenUtterance> {
    this.#spoken ??= await this.#speaker.begin(this.signal)
    return this.#spoken
  }

  /**
   * The utterance is complete.
   * @param calls the tools that the model called with it
   */
  end(calls: readonly ToolCall[] = []): void {
    this.#release((spoken) => spoken.utterance.end(), calls)
  }

  /** The task failed. Its utterance is cut short, unless it was aborted, so that the next one is heard after it. */
  fail(): void {
    this.#release(({ utterance }) => {
      if (this.signal.aborted) utterance.interrupt()
      else utterance.breakOff()
      utterance.endText()
    })
  }

  /** No more of it is spoken. */
  giveUp(): void {
    this.#abort.abort()
    this.#release(({ utterance }) => {
      utterance.interrupt()
      utterance.endText()
    })
  }

  /** The task is done and ignores further signals. */
  close(): void {
    this.#abort.abort()
  }

  #release(finish: (spoken: SpokenUtterance) => void, calls: readonly ToolCall[] = []): void {
    const spoken = this.#spoken
    this.#spoken = undefined
    if (!spoken) return
    finish(spoken)
    this.#history.agentSaid(spoken.utterance.id, spoken.utterance.text, calls)
    spoken.release()
  }
}
