import type { ChatHistory, ToolCall } from './chat-history.ts'
import type { Speaker, SpokenUtterance } from './speaker.ts'

/** One thing the agent is about to say: it can be given up at any moment, and what was said of it is remembered. */
export class SpeakingTask {
  readonly #speaker: Speaker
  readonly #history: ChatHistory
  readonly #abort = new AbortController()
  #spoken: SpokenUtterance | undefined

  /** @param signal gives up every task */
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

  /** The utterance that is being said; undefined if none is. */
  get utteranceId(): string | undefined {
    return this.#spoken?.utterance.id
  }

  /** The utterance that is being said, or a new one once the agent says nothing else. Rejects when the task is given up. */
  async begin(): Promise<SpokenUtterance> {
    this.#spoken ??= await this.#speaker.begin(this.signal)
    return this.#spoken
  }

  /** The utterance is complete. @param calls the tools that the model called with it */
  end(calls: readonly ToolCall[] = []): void {
    this.#release((spoken) => spoken.utterance.end(), calls)
  }

  /** The task failed. What it said is cut short, unless it was given up, so that what follows is heard after it. */
  fail(): void {
    this.#release(({ utterance }) => {
      if (this.signal.aborted) utterance.interrupt()
      else utterance.breakOff()
      utterance.endText()
    })
  }

  /** Nothing more of it is said. */
  giveUp(): void {
    this.#abort.abort()
    this.#release(({ utterance }) => {
      utterance.interrupt()
      utterance.endText()
    })
  }

  /** The task is done: it hears of no signal any more. */
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
