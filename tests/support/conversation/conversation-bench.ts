import { encodeG711, g711FrameBytes } from '../../../src/audio/g711.ts'
import { Conversation } from '../../../src/conversation/loop/conversation.ts'
import type { HangUpReason } from '../../../src/call-text/hang-up-reason.ts'
import type {
  ConversationAgent,
  ConversationFacts,
  ConversationListener,
  Turn,
} from '../../../src/conversation/loop/conversation-types.ts'
import { createEventQueue } from '../../../src/conversation/engine/event-queue.ts'
import type { VoiceEvent, VoiceSession } from '../../../src/conversation/engine/voice-engine.ts'
import { silentLogger } from '../../../src/runtime/logger.ts'

const loudByte = 0x10
const silentByte = 0xff

/** A conversation whose engine, ear and clock the test controls. */
export class ConversationBench {
  readonly conversation: Conversation
  readonly #log: [string, ...unknown[]][] = []
  readonly #turns: Turn[] = []
  readonly #queue = createEventQueue<VoiceEvent>(1_000)
  #isVoiced = false
  #isEngineHearing = false

  constructor(
    agent: Partial<ConversationAgent> = {},
    runTool?: ConversationListener['runTool'],
    transfer?: ConversationListener['transfer'],
    isLoopsTurn = false,
  ) {
    this.conversation = new Conversation({
      session: this.#openSession(isLoopsTurn),
      codec: 'pcmu',
      agent: {
        language: 'en-US',
        maxDurationMs: 900_000,
        voicemail: 'hang_up',
        voicemailMessage: '',
        ...agent,
      },
      voiceActivity: { isVoiced: () => this.#isVoiced, close: () => {} },
      listener: {
        ...this.#createListener(),
        ...(transfer && { transfer }),
        ...(runTool && { runTool }),
      },
      logger: silentLogger,
    })
  }

  /** What the loop did, in order: `say`, `interrupt`, `tool_result`, `turn`, `hang_up` … with their arguments. */
  get log(): readonly (readonly [name: string, ...args: unknown[]])[] {
    return this.#log
  }

  get turns(): readonly Turn[] {
    return this.#turns
  }

  /** Whether the engine got anything but silence in the last tick. */
  get isEngineHearing(): boolean {
    return this.#isEngineHearing
  }

  /** The engine says this; delivered before the next tick. */
  emit(...events: VoiceEvent[]): void {
    for (const event of events) this.#queue.push(event)
  }

  /** A whole utterance: audio of this length, its text and its end. */
  speak(utteranceId: string, text: string, ms: number): void {
    this.emit(
      { type: 'audio', utteranceId, g711: new Uint8Array(ms * 8).fill(loudByte) },
      { type: 'agent_text', utteranceId, text },
      { type: 'audio_end', utteranceId },
    )
  }

  /** Runs ticks, with or without a voiced callee. Returns in how many the agent was heard. */
  async run(ms: number, isVoiced = false): Promise<number> {
    await settle()
    this.#isVoiced = isVoiced
    const heard = new Uint8Array(g711FrameBytes).fill(isVoiced ? loudByte : silentByte)
    let heardFrames = 0
    for (let tick = 0; tick < ms / 20; tick += 1) {
      if (this.#isAgentHeardIn(heard)) heardFrames += 1
      if (tick % 10 === 0) await settle()
    }
    await settle()
    return heardFrames
  }

  /** Plays samples at 8 kHz to the loop as the callee's audio. Returns in how many frames the agent was heard. */
  async play(samples: Int16Array, isVoiced = false): Promise<number> {
    await settle()
    this.#isVoiced = isVoiced
    let heardFrames = 0
    for (let at = 0; at + g711FrameBytes <= samples.length; at += g711FrameBytes) {
      const heard = encodeG711('pcmu', samples.subarray(at, at + g711FrameBytes))
      if (this.#isAgentHeardIn(heard)) heardFrames += 1
    }
    await settle()
    return heardFrames
  }

  finish(): Promise<ConversationFacts> {
    return this.conversation.finish()
  }

  /** The engine's connection breaks: `events` does not end by `close`. */
  breakEngine(): void {
    this.#queue.end()
  }

  #isAgentHeardIn(heard: Uint8Array): boolean {
    return this.conversation.tick(heard)[0] === loudByte
  }

  #openSession(isLoopsTurn: boolean): VoiceSession {
    const loopTurns = {
      reply: this.#note('reply'),
      dismiss: this.#note('dismiss'),
      needsWords: true,
    }
    return {
      ...(isLoopsTurn && { loopTurns }),
      hear: (frame) => {
        this.#isEngineHearing = frame.some((byte) => byte !== silentByte)
      },
      events: this.#queue.events,
      say: this.#note('say'),
      pressed: this.#note('pressed'),
      interrupt: this.#note('interrupt'),
      toolResult: this.#note('tool_result'),
      close: () => {
        this.#log.push(['close'])
        this.#queue.end()
        return Promise.resolve({ inputTokens: 1, outputTokens: 2, audioInMs: 3, audioOutMs: 4 })
      },
    }
  }

  #createListener(): ConversationListener {
    return {
      onTurn: (turn) => {
        this.#turns.push(turn)
        this.#log.push(['turn', turn.speaker, turn.text])
      },
      onHangUp: (reason: HangUpReason) => this.#note('hang_up')(reason),
      onOptOut: this.#note('opt_out'),
      onVoicemail: this.#note('voicemail'),
      onNobody: this.#note('nobody'),
      onDtmf: this.#note('dtmf'),
    }
  }

  /** Writes its arguments to the log under this name. */
  #note(name: string) {
    return (...args: unknown[]): void => {
      this.#log.push([name, ...args])
    }
  }
}

/** Lets the loop's `for await` take the queued events. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
