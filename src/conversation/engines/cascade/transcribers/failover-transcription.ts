import { withinLimit } from '../provider-error.ts'
import type { Lineup, LineupMember } from '../providers/lineup.ts'
import type { Speech, Transcriber, Transcription, TurnHint } from './transcriber.ts'

/** A callee waits for the reply meanwhile: another provider that works is faster than patience. */
const patienceMs = 1_500

interface ListenerOfAll {
  onWords(): void
  onTurnHint(hint: TurnHint): void
}

interface Live {
  readonly member: LineupMember<Transcriber>
  readonly transcription: Transcription
  /** It was connected before the current speech began. */
  hasHeardAll: boolean
}

/**
 * Several transcribers as one: one of them listens, and the next gets the whole speech again when it fails. So no words
 * are lost with a provider.
 */
export class FailoverTranscription {
  readonly #lineup: Lineup<Transcriber>
  readonly #listener: ListenerOfAll
  readonly #closing = new AbortController()
  #live: Live | undefined
  #isSpeech = false

  constructor(lineup: Lineup<Transcriber>, listener: ListenerOfAll) {
    this.#lineup = lineup
    this.#listener = listener
  }

  /** Resolves when one of the transcribers hears. Rejects with `ProviderError`. */
  async open(signal: AbortSignal): Promise<void> {
    const either = AbortSignal.any([signal, this.#closing.signal])
    await this.#lineup.run((member, isLast) => this.#connect(member, isLast, either), either)
  }

  get words(): string {
    return this.#live?.hasHeardAll ? this.#live.transcription.words : ''
  }

  hear(frame: Uint8Array, isSpeech: boolean): void {
    this.#isSpeech = isSpeech
    if (this.#live?.hasHeardAll) this.#live.transcription.hear(frame, isSpeech)
  }

  hurry(speech: Speech): void {
    if (this.#live?.hasHeardAll) this.#live.transcription.hurry(speech)
  }

  /** The words of the speech. Rejects with `ProviderError` when no provider has them. */
  finish(speech: Speech, signal: AbortSignal): Promise<string> {
    return this.#lineup.run(async (member, isLast) => {
      const live = await this.#connect(member, isLast, signal)
      try {
        if (!live.hasHeardAll) live.transcription.replay(speech)
        live.hasHeardAll = true
        const words = live.transcription.finish(speech, signal)
        return await (isLast ? words : withinLimit(words, patienceMs, 'transcription_timeout'))
      } catch (error) {
        if (!signal.aborted) this.#drop(live)
        throw error
      }
    }, signal)
  }

  close(): void {
    this.#closing.abort()
    if (this.#live) this.#drop(this.#live)
  }

  async #connect(
    member: LineupMember<Transcriber>,
    isLast: boolean,
    signal: AbortSignal,
  ): Promise<Live> {
    if (this.#live?.member === member) return this.#live
    if (this.#live) this.#drop(this.#live)
    let isLost: Error | undefined
    let live: Live | undefined
    const giveUp = new AbortController()
    const opening = member.provider.open(
      {
        onWords: () => this.#live === live && this.#listener.onWords(),
        onTurnHint: (hint) => this.#live === live && this.#listener.onTurnHint(hint),
        onLost: (error) => {
          isLost = error
          if (live) this.#lost(live, error)
        },
      },
      AbortSignal.any([signal, giveUp.signal]),
    )
    try {
      const transcription = await (isLast
        ? opening
        : withinLimit(opening, patienceMs, 'transcription_timeout'))
      if (isLost) throw isLost
      live = { member, transcription, hasHeardAll: !this.#isSpeech }
      this.#live = live
      return live
    } catch (error) {
      giveUp.abort()
      throw error
    }
  }

  /** The connection broke in the middle: another is made at once, so that the next words meet an open ear. */
  #lost(live: Live, error: Error): void {
    if (this.#live !== live || this.#closing.signal.aborted) return
    this.#live = undefined
    this.#lineup.failed(live.member, error)
    // Where none can be opened, the end of the speech tries again and reports it.
    this.open(this.#closing.signal).catch(() => undefined)
  }

  #drop(live: Live): void {
    if (this.#live === live) this.#live = undefined
    live.transcription.close()
  }
}
