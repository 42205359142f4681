import type { ConversationListener, PartialTurn } from './conversation-types.ts'
import type { PlayedUtterance } from './playout-queue.ts'
import { createTurnLatencyMeter } from './turn-latency.ts'
import { TurnLog } from './turn-log.ts'
import { createUntranscribedSpeech } from './untranscribed-speech.ts'
import { unrecognisedText } from '../../call-text/unrecognised-text.ts'
import type { VoiceEvent } from '../engine/voice-engine.ts'

interface CallTurnsOptions {
  readonly listener: Pick<ConversationListener, 'onTurn' | 'onLatency' | 'onFirstWords'>
  /** The time at which the loop heard the speech begin that the engine dates at `engineMs`. */
  readonly onsetNear: (engineMs: number) => number
  /** The engine reports speech, but no words: the speech itself counts as words. */
  readonly onUntranscribedSpeech: () => void
}

/** Records who said what when, and the latency of each reply. Decides nothing. */
export class CallTurns {
  readonly #log
  readonly #latency
  readonly #untranscribed

  constructor({ listener, onsetNear, onUntranscribedSpeech }: CallTurnsOptions) {
    this.#log = new TurnLog((turn) => listener.onTurn(turn), onsetNear)
    this.#latency = createTurnLatencyMeter({
      onLatency: (measured) => listener.onLatency?.(measured),
      onFirstWords: (atMs) => listener.onFirstWords?.(atMs),
    })
    this.#untranscribed = createUntranscribedSpeech((startMs) => {
      this.#log.contactText(startMs, unrecognisedText)
      onUntranscribedSpeech()
    })
  }

  /** Whether every turn has its text. */
  get isSettled(): boolean {
    return this.#log.isSettled
  }

  /** A frame of the callee was voiced. */
  heardVoice(): void {
    this.#latency.heardVoice()
  }

  /** The callee holds the line. */
  held(): void {
    this.#latency.held()
  }

  take(event: VoiceEvent): void {
    this.#latency.took(event)
    switch (event.type) {
      case 'agent_text':
        return this.#log.agentText(event.utteranceId, event.text)
      case 'speech_start':
        this.#untranscribed.started(event.atMs)
        return this.#log.contactStarted(event.atMs)
      case 'speech_stop':
        this.#untranscribed.stopped()
        return this.#log.contactStopped()
      case 'contact_text':
        this.#untranscribed.wordsReported()
        return this.#log.contactText(event.startMs, event.text)
      case 'audio':
      case 'audio_end':
      case 'first_words':
      case 'tool_call':
      case 'error':
        return undefined
    }
  }

  /** The callee's turn goes on until `turnOver`, over several stretches of speech. */
  ownedByLoop(): void {
    this.#log.joinTurns()
  }

  /** The callee has finished, and the agent is asked to reply. */
  turnOver(): void {
    this.#log.turnOver()
    this.#latency.turnOver()
  }

  /** The speech that the engine dates at `startMs` was no turn. */
  dismiss(startMs: number): void {
    this.#log.dismiss(startMs)
  }

  /** The speech that the engine dates at `startMs` needs no reply. */
  aside(startMs: number): void {
    this.#log.aside(startMs)
  }

  /** A frame of the agent went to the callee at this time of the recording. */
  agentPlayed(utteranceId: string, atMs: number, isVoiced: boolean): void {
    this.#log.agentPlayed(utteranceId, atMs, isVoiced)
    this.#latency.played(utteranceId, atMs, isVoiced)
  }

  /** The utterance is over: its text ends where the audio did. */
  agentOver({ utteranceId, playedMs, producedMs }: PlayedUtterance): void {
    this.#log.agentOver(utteranceId, playedMs, producedMs)
  }

  /** What was heard so far of the agent's turn that is not final. */
  agentWords(playing: PlayedUtterance | undefined): PartialTurn | undefined {
    return this.#log.agentWords(playing)
  }

  /** Delivers the turns that are final at this time. */
  flush(nowMs: number): void {
    this.#log.flush(nowMs)
  }

  /** No more text comes: delivers every turn that has one. */
  end(): void {
    this.#untranscribed.end()
    this.#log.end()
  }
}
