/** Plays one scene: a conversation of the product in real time, with a callee made of samples. */
import { decodeG711, encodeG711, g711FrameBytes } from '../../src/audio/g711.ts'
import { energyOf } from '../../src/audio/level.ts'
import { createVoiceActivityDetector } from '../../src/audio/voice-activity.ts'
import type { VoiceEngine, VoiceSession } from '../../src/conversation/engine/voice-engine.ts'
import { Conversation } from '../../src/conversation/loop/conversation.ts'
import type { Turn } from '../../src/conversation/loop/conversation-types.ts'
import {
  usualTurnTaking,
  type FirstWords,
} from '../../src/conversation/turn-taking/turn-taking-settings.ts'
import { silentLogger } from '../../src/runtime/logger.ts'

export const question = 'Tell me about the parking.'
const answer =
  'There is a garage right next door, which is open day and night, and the first two hours are free for everybody who comes to see us, just take the ticket with you when you come in.'

export interface Scene {
  readonly greeting: string
  /** The callee asks first, so that the sound falls into a reply; otherwise into the greeting. */
  readonly asks?: Int16Array
  /** What the callee's side sounds like from then on, and when it begins: after the answer, or within the reply. */
  readonly sound: Int16Array
  readonly soundAfterMs: number
  /** The sound follows the end of the reply instead. */
  readonly isAfterReply?: boolean
  /** How long the scene goes on after the sound. */
  readonly restMs: number
  readonly firstWords?: FirstWords
  /** The line returns the agent's voice. */
  readonly echo?: { readonly db: number; readonly delayMs: number }
}

export interface Played {
  /** Milliseconds since the answer. */
  readonly soundAtMs: number
  /** When the agent was cut, since the answer. */
  readonly cutsMs: readonly number[]
  /** For each frame since the answer, whether the agent was heard and whether the callee's sound was. */
  readonly agentVoiced: readonly boolean[]
  readonly calleeVoiced: readonly boolean[]
  readonly turns: readonly Turn[]
  /** The agent's utterances that began after the sound. */
  readonly repliesMs: readonly number[]
}

const frameMs = 20
/** RMS 200. */
const voicedEnergy = 200 ** 2
const quietMs = 800
const longestSceneMs = 45_000

const openSession = (engine: VoiceEngine, { greeting }: Scene, isLoops: boolean) =>
  engine.open(
    {
      callId: 'turns',
      codec: 'pcmu',
      instructions: `If asked about parking, say "${answer}"`,
      greeting,
      language: 'en-US',
      tools: [],
      ...(isLoops && { turns: 'loop' as const }),
    },
    AbortSignal.timeout(30_000),
  )

export const playScene = async (
  engine: VoiceEngine,
  scene: Scene,
  isLoops: boolean,
): Promise<Played> => {
  const session = await openSession(engine, scene, isLoops)
  const turns: Turn[] = []
  const cutsMs: number[] = []
  const agentVoiced: boolean[] = []
  const calleeVoiced: boolean[] = []
  const said: Int16Array[] = []
  const repliesMs: number[] = []
  const nowMs = (): number => agentVoiced.length * frameMs
  const callee = createCallee(scene)
  const conversation = new Conversation({
    session: watched(session, (playedMs) => {
      if (playedMs > 0 && !callee.isOver) cutsMs.push(nowMs())
    }),
    codec: 'pcmu',
    agent: {
      language: 'en-US',
      maxDurationMs: 600_000,
      voicemail: 'hang_up',
      voicemailMessage: '',
      turnTaking: { ...usualTurnTaking, firstWords: scene.firstWords ?? 'agent' },
    },
    voiceActivity: await createVoiceActivityDetector(),
    listener: {
      onTurn: (turn) => turns.push(turn),
      onLatency: ({ audioOffsetMs }) => repliesMs.push(audioOffsetMs),
      onHangUp: () => {},
      onOptOut: () => {},
      onVoicemail: () => {},
      onNobody: () => {},
      onDtmf: () => {},
    },
    logger: silentLogger,
  })
  await everyFrame(() => {
    const clean = callee.next(agentVoiced)
    calleeVoiced.push(energyOf(clean) > voicedEnergy)
    const heard = scene.echo ? withEcho(clean, said, scene.echo) : clean
    const samples = decodeG711('pcmu', conversation.tick(encodeG711('pcmu', heard)))
    said.push(samples.slice())
    agentVoiced.push(energyOf(samples) > voicedEnergy)
    return !callee.isOver && nowMs() < longestSceneMs
  })
  await conversation.finish()
  return {
    soundAtMs: callee.soundAtMs + onsetOf(scene.sound),
    cutsMs,
    agentVoiced,
    calleeVoiced,
    turns,
    repliesMs,
  }
}

/** Where a sound is first as loud as speech: 13 dB below its loudest frame. A listener notices nothing before. */
const onsetOf = (sound: Int16Array): number => {
  const energies: number[] = []
  for (let at = 0; at + g711FrameBytes <= sound.length; at += g711FrameBytes)
    energies.push(energyOf(sound.subarray(at, at + g711FrameBytes)))
  const peak = Math.max(...energies)
  return (
    Math.max(
      0,
      energies.findIndex((energy) => energy >= peak / 20),
    ) * frameMs
  )
}

const watched = (session: VoiceSession, onInterrupt: (playedMs: number) => void): VoiceSession => ({
  loopTurns: session.loopTurns,
  events: session.events,
  hear: (frame) => session.hear(frame),
  say: (text) => session.say(text),
  pressed: (digits) => session.pressed(digits),
  interrupt(utteranceId, playedMs) {
    onInterrupt(playedMs)
    session.interrupt(utteranceId, playedMs)
  },
  toolResult: (id, result, goOn) => session.toolResult(id, result, goOn),
  close: () => session.close(),
})

/** Waits for the agent, asks, and makes the sound at its time. */
const createCallee = ({ asks, sound, soundAfterMs, restMs, isAfterReply }: Scene) => {
  let phase: 'greeting' | 'asking' | 'waiting' | 'reply' | 'sound' | 'rest' = asks
    ? 'greeting'
    : 'reply'
  let phaseMs = 0
  let soundAtMs = 0
  let clip: Int16Array | undefined
  let at = 0
  const enter = (next: typeof phase, playing?: Int16Array): void => {
    phase = next
    phaseMs = 0
    clip = playing
    at = 0
  }
  const isQuiet = (agent: readonly boolean[]): boolean =>
    agent.includes(true) && !agent.slice(-quietMs / frameMs).includes(true)
  const act = (agent: readonly boolean[]): void => {
    const isClipOver = clip === undefined || at >= clip.length
    if (phase === 'greeting' && isQuiet(agent) && asks) enter('asking', asks)
    else if (phase === 'asking' && isClipOver) enter('waiting')
    else if (phase === 'waiting' && agent.at(-1) === true) enter('reply')
    else if (phase === 'reply' && (isAfterReply ? isQuiet(agent) : phaseMs >= soundAfterMs)) {
      enter('sound', sound)
      soundAtMs = agent.length * frameMs
    } else if (phase === 'sound' && isClipOver) enter('rest')
  }
  return {
    get isOver() {
      return phase === 'rest' && phaseMs >= restMs
    },
    get soundAtMs() {
      return soundAtMs
    },
    next(agent: readonly boolean[]): Int16Array {
      act(agent)
      phaseMs += frameMs
      const frame = new Int16Array(g711FrameBytes)
      if (clip) frame.set(clip.subarray(at, at + g711FrameBytes))
      at += g711FrameBytes
      return frame
    },
  }
}

const withEcho = (
  clean: Int16Array,
  said: readonly Int16Array[],
  { db, delayMs }: { readonly db: number; readonly delayMs: number },
): Int16Array => {
  const late = said.at(-delayMs / frameMs)
  const factor = 10 ** (db / 20)
  return late ? clean.map((sample, index) => sample + Math.round(late[index]! * factor)) : clean
}

const active = new Set<() => void>()
let ticker: NodeJS.Timeout | undefined

/** Calls `work` every 20 ms, as often as was missed, until it returns false. All scenes share one clock. */
const everyFrame = (work: () => boolean): Promise<void> =>
  new Promise((resolve, reject) => {
    const startedAt = performance.now()
    let frames = 0
    const run = (): void => {
      try {
        // At most two at a time: a model that is busy must not be left behind.
        for (
          let count = 0;
          count < 2 && performance.now() - startedAt > frames * frameMs;
          count += 1
        ) {
          frames += 1
          if (work()) continue
          active.delete(run)
          if (active.size === 0) {
            clearInterval(ticker)
            ticker = undefined
          }
          return resolve()
        }
      } catch (error) {
        active.delete(run)
        reject(error as Error)
      }
    }
    active.add(run)
    ticker ??= setInterval(() => {
      for (const each of active) each()
    }, 10)
  })
