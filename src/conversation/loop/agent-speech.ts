import { decodeG711, g711FrameBytes, type G711Codec } from '../../audio/g711.ts'
import { energyOf } from '../../audio/level.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { BargeIn } from './barge-in.ts'
import type { CalleeSpeech } from './callee-speech.ts'
import { createEchoGate } from './echo-gate.ts'
import { createLineEcho } from './line-echo.ts'
import { createPlayoutQueue, type PlayedUtterance, type PlayoutQueue } from './playout-queue.ts'
import type { VoiceSession } from '../engine/voice-engine.ts'

interface AgentSpeechOptions {
  readonly codec: G711Codec
  readonly session: Pick<VoiceSession, 'interrupt'>
  readonly bargeIn: BargeIn
  /** The loop owns the turns: an echo is learned, and a paused word is said again. */
  readonly isLoopsTurn: boolean
  readonly logger: Logger
  /** A frame of this utterance goes to the callee. */
  readonly onPlayed: (utteranceId: string, isVoiced: boolean) => void
  /** The utterance is over, whether or not it was heard to its end. */
  readonly onOver: (utterance: PlayedUtterance, isWhole: boolean) => void
}

/** Frames above this energy (RMS 100) are voiced. */
const voicedEnergy = 100 ** 2
/** An echo ends within half a second of the pause; 300 ms of silence follow it. */
const echoPauseFrames = 40
/** 400 ms: the receiver is on its way back to the ear. */
const sayAgainDelayFrames = 20

/**
 * The agent's speech on its way to the callee: played frame by frame, paused and dropped when the
 * callee interrupts.
 */
export class AgentSpeech {
  readonly #options: AgentSpeechOptions
  readonly #echo = createEchoGate()
  readonly #lineEcho = createLineEcho()
  readonly #samples = new Int16Array(g711FrameBytes)
  readonly #playout: PlayoutQueue
  #waitsFrames = 0
  #isEcho = false
  /** While paused: the loudest frame of the callee, and since when. */
  #heardEnergy = 0
  #pausedFrames = 0

  constructor(options: AgentSpeechOptions) {
    this.#options = options
    this.#playout = createPlayoutQueue(
      (utterance) => options.onOver(utterance, true),
      (frame) => this.#energyOf(frame) < voicedEnergy,
    )
  }

  /** Whether audio is queued or playing, or an utterance has begun and not ended. */
  get isBusy(): boolean {
    return this.#playout.isBusy
  }

  /** How far the utterance is that is playing; undefined while none is. */
  get playing(): PlayedUtterance | undefined {
    return this.#playout.playing
  }

  /** How much of the speech that has arrived is not played yet. */
  get remainingMs(): number {
    const { producedMs = 0, playedMs = 0 } = this.playing ?? {}
    return producedMs - playedMs
  }

  /** Whether the utterance that is playing has run out of audio before its end. */
  get isDry(): boolean {
    return this.#playout.isDry
  }

  /**
   * Audio of the engine, in whole frames. The engine is told when the audio is not wanted.
   * @param mayBegin whether an utterance may begin now; one that has begun may always continue
   */
  take(utteranceId: string, g711: Uint8Array, mayBegin: boolean): void {
    const isWanted = mayBegin || this.#playout.has(utteranceId)
    if (!isWanted) return this.#options.session.interrupt(utteranceId, 0)
    if (this.#playout.add(utteranceId, g711)) return
    this.#options.logger.warn({ utterance_id: utteranceId }, 'the playout queue of a call is full')
    this.#playout.end(utteranceId)
  }

  /** No more audio comes for this utterance. */
  end(utteranceId: string): void {
    this.#playout.end(utteranceId)
  }

  /** One frame of the callee: whether it is only the agent's own voice, returned by the line. */
  hear(callee: CalleeSpeech): boolean {
    this.#isEcho =
      this.#options.isLoopsTurn && this.#lineEcho.isEcho(callee.energy, callee.isVoiced)
    return this.#isEcho
  }

  /** Whether the callee's frame is an echo on a line that is known to return the agent's voice. */
  get isEchoOfLine(): boolean {
    return this.#isEcho && this.#lineEcho.isMet
  }

  /** Whether the speech is paused, until it is clear what the callee's sound means. */
  get isPaused(): boolean {
    return this.#options.bargeIn.isPaused
  }

  /** Nothing is played for so long; what is queued follows. */
  wait(frames: number): void {
    this.#waitsFrames = Math.max(this.#waitsFrames, frames)
  }

  /**
   * Yields to a callee who interrupts.
   * @param interruptedAfterMs how long the callee must speak; undefined: the speech does not stop
   */
  giveWay(callee: CalleeSpeech, interruptedAfterMs: number | undefined): void {
    const { bargeIn, isLoopsTurn } = this.#options
    const isHeard = callee.isVoiced && interruptedAfterMs !== undefined
    const isSpeech = isLoopsTurn
      ? callee.isVoiced && !this.#isEcho
      : isHeard && !this.#echo.isEcho(callee.energy)
    const verdict = bargeIn.push(isSpeech, this.isBusy, interruptedAfterMs)
    if (verdict === 'yield') return this.drop()
    if (verdict === 'resume') return this.#resume()
    if (!bargeIn.isPaused) return undefined
    this.#pausedFrames = verdict === 'pause' ? 0 : this.#pausedFrames + 1
    const isFirst = verdict === 'pause'
    if (isSpeech) this.#heardEnergy = Math.max(isFirst ? 0 : this.#heardEnergy, callee.energy)
  }

  /** Stops all playing and queued speech. */
  drop(): void {
    const { session, onOver } = this.#options
    for (const utterance of this.#playout.clear()) {
      session.interrupt(utterance.utteranceId, utterance.playedMs)
      onOver(utterance, false)
    }
  }

  /**
   * The next 160 bytes for the callee; undefined when nothing is to be played, or the callee is
   * speaking.
   */
  next(): Uint8Array | undefined {
    if (this.#waitsFrames > 0) {
      this.#waitsFrames -= 1
      return undefined
    }
    if (this.isPaused) return undefined
    const played = this.#playout.next()
    if (!played) return undefined
    const energy = this.#energyOf(played.frame)
    this.#echo.sent(energy)
    this.#lineEcho.sent(energy)
    this.#options.onPlayed(played.utteranceId, energy >= voicedEnergy)
    return played.frame
  }

  /** The callee was away: what they did not hear to its end is said again, after a moment. */
  sayAgain(): void {
    this.#playout.rewind()
    this.#waitsFrames = sayAgainDelayFrames
  }

  /** Goes on with the word in which it stopped. */
  #resume(): void {
    if (!this.#options.isLoopsTurn) return
    if (this.#pausedFrames <= echoPauseFrames) this.#lineEcho.mayHaveBeenEcho(this.#heardEnergy)
    this.#playout.rewindToWord()
  }

  #energyOf(frame: Uint8Array): number {
    return energyOf(decodeG711(this.#options.codec, frame, this.#samples))
  }
}
