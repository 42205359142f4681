import { frameMs } from '../../audio/frame.ts'
import { CalleeLevel } from '../turn-taking/callee-level.ts'
import { createSpeechLikeness } from '../turn-taking/speech-likeness.ts'

/** One sound of the callee's side: speech, a noise, a background. */
export interface Sound {
  readonly atMs: number
  endMs: number
  voicedMs: number
  /** Mean square of its loudest part. */
  peak: number
  isSpeech: boolean
  /** The agent was speaking when it began. */
  readonly beganInAgentSpeech: boolean
  /** The agent's greeting was due or playing when it began. */
  readonly beganInGreeting: boolean
  /** The agent was cut off by it. */
  hasCutAgent: boolean
}

const soundGapMs = 300
const maxSounds = 32
/** Engines date speech back by up to 300 ms. */
const prefixMs = 400

/** Remembers what the loop itself heard, to judge the words that an engine reports later. */
export class HeardSounds {
  readonly likeness = createSpeechLikeness()
  readonly level = new CalleeLevel()
  #sounds: Sound[] = []
  #current: Sound | undefined
  #nowMs = 0
  #nearMs = 0

  /** The next frame; `isVoiced`: and not the agent's echo. */
  push(
    frame: Int16Array,
    energy: number,
    isVoiced: boolean,
    state: Pick<Sound, 'beganInAgentSpeech' | 'beganInGreeting'>,
  ): void {
    this.#nowMs += frameMs
    this.level.push(energy, isVoiced)
    if (isVoiced) this.#voiced(state)
    const current = this.#current
    if (!current) return
    this.likeness.push(frame, isVoiced)
    current.peak = this.level.soundPeak
    if (this.#nowMs - current.endMs < soundGapMs) return
    current.isSpeech = this.likeness.isSpeech
    this.#current = undefined
  }

  /** When the callee was last heard as near as they are. */
  get nearUntilMs(): number {
    return this.#nearMs
  }

  /** The sound that goes on. */
  get current(): Sound | undefined {
    return this.#current
  }

  /** All sounds of the speech that the engine dates at `startMs`. */
  since(startMs: number): Sound[] {
    if (this.#current) this.#current.isSpeech = this.likeness.isSpeech
    return this.#sounds.filter(({ endMs }) => endMs >= startMs - prefixMs)
  }

  #voiced(state: Pick<Sound, 'beganInAgentSpeech' | 'beganInGreeting'>): void {
    if (!this.#current) this.#begin(state)
    const current = this.#current!
    current.endMs = this.#nowMs
    current.voicedMs += frameMs
    if (this.level.isNear || !this.level.isKnown) this.#nearMs = this.#nowMs
  }

  #begin(state: Pick<Sound, 'beganInAgentSpeech' | 'beganInGreeting'>): void {
    this.likeness.restart()
    this.level.restart()
    this.#current = {
      atMs: this.#nowMs - frameMs,
      endMs: this.#nowMs,
      voicedMs: 0,
      peak: 0,
      isSpeech: false,
      hasCutAgent: false,
      ...state,
    }
    this.#sounds.push(this.#current)
    if (this.#sounds.length > maxSounds) this.#sounds.shift()
  }
}
