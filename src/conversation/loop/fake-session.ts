import { encodeG711, g711FrameBytes } from '../../audio/g711.ts'
import type { VoiceActivityDetector } from '../../audio/voice-activity.ts'
import { Conversation } from './conversation.ts'
import type { HangUpReason } from '../../call-text/hang-up-reason.ts'
import type {
  ConversationAgent,
  ConversationFacts,
  ConversationListener,
  Turn,
} from './conversation-types.ts'
import { createEventQueue } from '../engine/event-queue.ts'
import type { VoiceEvent, VoiceSession } from '../engine/voice-engine.ts'
import { silentLogger } from '../../runtime/logger.ts'

/** For tests: a conversation whose engine, ear and clock the test controls. */
export interface ConversationBench {
  readonly conversation: Conversation
  /** What the loop did, in order: `say`, `interrupt`, `tool_result`, `turn`, `hang_up` … with their arguments. */
  readonly log: readonly (readonly [name: string, ...args: unknown[]])[]
  readonly turns: readonly Turn[]
  /** The engine says this; delivered before the next tick. */
  emit(...events: VoiceEvent[]): void
  /** A whole utterance: audio of this length, its text and its end. */
  speak(utteranceId: string, text: string, ms: number): void
  /** Runs ticks, with or without a voiced callee. Returns in how many the agent was heard. */
  run(ms: number, isVoiced?: boolean): Promise<number>
  /** Plays samples at 8 kHz to the loop as the callee's audio. Returns in how many frames the agent was heard. */
  play(samples: Int16Array, isVoiced?: boolean): Promise<number>
  /** Whether the engine got anything but silence in the last tick. */
  readonly isEngineHearing: boolean
  finish(): Promise<ConversationFacts>
  /** The engine's connection breaks: `events` does not end by `close`. */
  breakEngine(): void
}

const loudByte = 0x10
const silentByte = 0xff

export const createConversationBench = (
  agent: Partial<ConversationAgent> = {},
  runTool?: ConversationListener['runTool'],
  transfer?: ConversationListener['transfer'],
): ConversationBench => {
  const log: [string, ...unknown[]][] = []
  const turns: Turn[] = []
  const queue = createEventQueue<VoiceEvent>(1_000)
  let isVoiced = false
  let heardByEngine = false
  const note =
    (name: string) =>
    (...args: unknown[]): void => {
      log.push([name, ...args])
    }

  const session: VoiceSession = {
    hear(frame) {
      heardByEngine = frame.some((byte) => byte !== silentByte)
    },
    events: queue.events,
    say: note('say'),
    pressed: note('pressed'),
    interrupt: note('interrupt'),
    toolResult: note('tool_result'),
    close() {
      log.push(['close'])
      queue.end()
      return Promise.resolve({ inputTokens: 1, outputTokens: 2, audioInMs: 3, audioOutMs: 4 })
    },
  }
  const voiceActivity: VoiceActivityDetector = { isVoiced: () => isVoiced, close: () => {} }
  const listener: ConversationListener = {
    onTurn(turn) {
      turns.push(turn)
      log.push(['turn', turn.speaker, turn.text])
    },
    onHangUp: (reason: HangUpReason) => note('hang_up')(reason),
    onOptOut: note('opt_out'),
    onVoicemail: note('voicemail'),
    onNobody: note('nobody'),
    onDtmf: note('dtmf'),
    ...(transfer && { transfer }),
    ...(runTool && { runTool }),
  }
  const conversation = new Conversation({
    session,
    codec: 'pcmu',
    agent: {
      language: 'en-US',
      maxDurationMs: 900_000,
      voicemail: 'hang_up',
      voicemailMessage: '',
      ...agent,
    },
    voiceActivity,
    listener,
    logger: silentLogger,
  })

  const emit = (...events: VoiceEvent[]): void => {
    for (const event of events) queue.push(event)
  }

  /** Lets the loop's `for await` take the queued events. */
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

  return {
    conversation,
    log,
    turns,
    emit,
    speak: (utteranceId, text, ms) =>
      emit(
        { type: 'audio', utteranceId, g711: new Uint8Array(ms * 8).fill(loudByte) },
        { type: 'agent_text', utteranceId, text },
        { type: 'audio_end', utteranceId },
      ),
    async run(ms, voiced = false) {
      await settle()
      isVoiced = voiced
      const heard = new Uint8Array(g711FrameBytes).fill(voiced ? loudByte : silentByte)
      let heardFrames = 0
      for (let tick = 0; tick < ms / 20; tick += 1) {
        if (conversation.tick(heard)[0] === loudByte) heardFrames += 1
        if (tick % 10 === 0) await settle()
      }
      await settle()
      return heardFrames
    },
    async play(samples, voiced = false) {
      await settle()
      isVoiced = voiced
      let heardFrames = 0
      for (let at = 0; at + g711FrameBytes <= samples.length; at += g711FrameBytes) {
        const heard = encodeG711('pcmu', samples.subarray(at, at + g711FrameBytes))
        if (conversation.tick(heard)[0] === loudByte) heardFrames += 1
      }
      await settle()
      return heardFrames
    },
    get isEngineHearing() {
      return heardByEngine
    },
    finish: () => conversation.finish(),
    breakEngine: () => queue.end(),
  }
}
