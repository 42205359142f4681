import type { G711Codec } from '../../audio/g711.ts'

/**
 * The port of every engine that holds a conversation. An engine hears 20 ms frames of G.711 and emits audio, turns and tool
 * calls; it never sees RTP. Playout, barge-in and silence belong to our own loop (`conversation.ts`).
 */
export interface VoiceEngine {
  readonly name: string
  /**
   * Opens a session. It is called while the phone still rings, so that the first words are not
   * late: the greeting is requested at once and waits in `events`. The signal aborts the opening;
   * an open session ends only by `close`. Rejects with `EngineOpenError`.
   */
  open(options: SessionOptions, signal: AbortSignal): Promise<VoiceSession>
}

export interface SessionOptions {
  readonly callId: string
  readonly codec: G711Codec
  /** The agent's prompt with its contact variables filled in. */
  readonly instructions: string
  /** Spoken first by the agent, word for word, if not empty. */
  readonly greeting: string
  /** BCP 47. */
  readonly language: string
  readonly voice?: string
  readonly tools: readonly ToolSpec[]
  /** `loop`: the loop finds the ends of turns and asks for each reply; otherwise the engine does. */
  readonly turns?: 'loop' | undefined
}

/** Turns that the loop owns: the engine replies only when it is asked to. */
export interface LoopTurns {
  /** The callee has finished: the agent replies to what they said. */
  reply(): void
  /** The speech that began then was none of the callee to the agent: the model forgets it. */
  dismiss(startMs: number): void
  /** Whether the engine cannot reply before it knows the words. */
  readonly needsWords: boolean
}

export interface ToolSpec {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: object
}

export interface VoiceSession {
  /** Present if the session was opened with `turns: 'loop'` and its engine supports that. */
  readonly loopTurns?: LoopTurns | undefined
  /** 160 bytes of G.711 (20 ms) from the callee; the engine copies what it keeps. Never waits. */
  hear(frame: Uint8Array): void
  /** All events of the engine, for one consumer; ends after `close` or a fatal error. */
  readonly events: AsyncIterable<VoiceEvent>
  /**
   * Asks the agent to say this text word for word after its current speech. It comes back as
   * `audio` and `agent_text` events like all other speech.
   */
  say(text: string): void
  /** The callee pressed these keys; the agent replies to them. */
  pressed(digits: string): void
  /** Local barge-in: the utterance was cut after the callee heard `playedMs` of it. */
  interrupt(utteranceId: string, playedMs: number): void
  /**
   * The result of a `tool_call`; each call must get one. With `goOn: false` the agent does not
   * speak about it.
   */
  toolResult(toolCallId: string, result: unknown, goOn?: boolean): void
  /** Ends within two seconds; safe twice. */
  close(): Promise<EngineUsage>
}

/**
 * Times are milliseconds of callee audio heard so far (frames × 20). `g711` is a whole number of
 * 160-byte frames. `agent_text` comes once for an utterance, before or after its audio; for an
 * interrupted one it may be cut short. After a fatal `error` no more events follow.
 */
export type VoiceEvent =
  | { readonly type: 'audio'; readonly utteranceId: string; readonly g711: Uint8Array }
  | { readonly type: 'audio_end'; readonly utteranceId: string }
  /**
   * The beginning of the model's reply goes to the synthesizer. Models that produce speech
   * themselves do not report it.
   */
  | { readonly type: 'first_words'; readonly utteranceId: string }
  | { readonly type: 'speech_start' | 'speech_stop'; readonly atMs: number }
  | { readonly type: 'agent_text'; readonly utteranceId: string; readonly text: string }
  /** Empty text: the callee spoke and was not understood. */
  | { readonly type: 'contact_text'; readonly text: string; readonly startMs: number }
  | {
      readonly type: 'tool_call'
      readonly id: string
      readonly name: string
      readonly arguments: unknown
    }
  | {
      readonly type: 'error'
      readonly fatal: boolean
      readonly code: string
      readonly message: string
    }

/** Tokens of a model. Those of audio and those from the server's cache are priced apart; each is part of the whole. */
export interface TokenUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly audioInputTokens?: number
  /** Of either kind. */
  readonly cachedInputTokens?: number
  readonly cachedAudioInputTokens?: number
  readonly audioOutputTokens?: number
}

export interface EngineUsage extends TokenUsage {
  readonly audioInMs: number
  readonly audioOutMs: number
}

/**
 * The engine was unreachable, or refused the session. `code` is the provider's, or ours; the
 * message contains no secret.
 */
export class EngineOpenError extends Error {
  override name = 'EngineOpenError'
  readonly code: string
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
