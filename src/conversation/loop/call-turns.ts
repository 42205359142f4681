import type { ConversationListener } from './conversation-types.ts'
import type { PlayedUtterance } from './playout-queue.ts'
import { createTurnLatencyMeter } from './turn-latency.ts'
import { TurnLog } from './turn-log.ts'
import { createUntoldSpeech } from './untold-speech.ts'
import { unrecognisedText } from '../../call-text/unrecognised-text.ts'
import type { VoiceEvent } from '../engine/voice-engine.ts'

export interface CallTurnsOptions {
  readonly listener: Pick<ConversationListener, 'onTurn' | 'onLatency' | 'onFirstWords'>
  /** The time at which the speech was heard to begin that the engine dates at `engineMs`. */
  readonly onsetNear: (engineMs: number) => number
  /** The engine reports speech, but no words: the speech itself counts as words. */
  readonly onUntoldSpeech: () => void
}

/** Writes down who said what when, and how long each reply took. Decides nothing. */
export class CallTurns {
  readonly #log
  readonly #latency
  readonly #untold

  constructor({ listener, onsetNear, onUntoldSpeech }: CallTurnsOptions) {
    this.#log = new TurnLog((turn) => listener.onTurn(turn), onsetNear)
    this.#latency = createTurnLatencyMeter({
      onLatency: (measured) => listener.onLatency?.(measured),
      onFirstWords: (atMs) => listener.onFirstWords?.(atMs),
    })
    this.#untold = createUntoldSpeech((startMs) => {
      this.#log.contactText(startMs, unrecognisedText)
      onUntoldSpeech()
    })
  }

  /** Whether no text is outstanding. */
  get isSettled(): boolean {
    return this.#log.isSettled
  }

  /** A frame of the callee was voiced. */
  heardVoice(): void {
    this.#latency.heardVoice()
  }

  take(event: VoiceEvent): void {
    this.#latency.took(event)
    switch (event.type) {
      case 'agent_text':
        return this.#log.agentText(event.utteranceId, event.text)
      case 'speech_start':
        this.#untold.started(event.atMs)
        return this.#log.contactStarted(event.atMs)
      case 'speech_stop':
        this.#untold.stopped()
        return this.#log.contactStopped()
      case 'contact_text':
        this.#untold.told()
        return this.#log.contactText(event.startMs, event.text)
      case 'audio':
      case 'audio_end':
      case 'first_words':
      case 'tool_call':
      case 'error':
        return undefined
    }
  }

  /** A frame of the agent went to the callee at this time of the recording. */
  agentPlayed(utteranceId: string, atMs: number, isVoiced: boolean): void {
    this.#log.agentPlayed(utteranceId, atMs, isVoiced)
    this.#latency.played(utteranceId, atMs, isVoiced)
  }

  /** The utterance is over: its text ends where the sound did. */
  agentOver({ utteranceId, playedMs, producedMs }: PlayedUtterance): void {
    this.#log.agentOver(utteranceId, playedMs, producedMs)
  }

  /** Hands out the turns that are final at this time. */
  flush(nowMs: number): void {
    this.#log.flush(nowMs)
  }

  /** No text comes any more: hands out every turn that has one. */
  end(): void {
    this.#untold.end()
    this.#log.end()
  }
}
