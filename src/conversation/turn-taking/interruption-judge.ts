import { frameMs } from '../../audio/frame.ts'
import type { SpeechLikeness } from './speech-likeness.ts'
import type { WordsKind } from './turn-words.ts'

/** One frame of the callee while the agent may be speaking. */
interface JudgedFrame {
  /** Speech of the callee by energy and detector; neither the agent's echo nor a known background. */
  readonly isVoiced: boolean
  /** As loud as the callee's own voice, as far as that is known. */
  readonly isNear: boolean
  /** So loud that it may be the callee's voice, whatever the detector says. */
  readonly isLoud: boolean
  /** What the sound that goes on resembles. */
  readonly likeness: Pick<SpeechLikeness, 'voicedMs' | 'isSpeech' | 'isHum' | 'restart'>
}

/** `pause`: hold the agent's speech; `resume`: it goes on where it stopped; `yield`: the callee has the floor. */
export type InterruptionVerdict = 'pause' | 'resume' | 'yield'

/** A pause that a listener hardly notices, and that is taken back at no cost. */
const pauseAfterMs = 60
/** A longer silence begins another sound. */
const soundGapMs = 240
/** Silence after which a sound that was no speech is over. */
const noiseOverMs = 160
/** Silence after a backchannel. */
const backchannelOverMs = 100
/** So much silence means that an engine that reports words would have reported them. */
const wordsOverdueMs = 700
/** No pause is longer without words. */
const longestPauseMs = 1_140
/** Of the span that makes an interruption, this much is voice: a bark and a pause are not. */
const leastVoicedPart = 0.4
/** And this much of the voice is near. */
const leastNearPart = 0.33
/** Still speaking: a backchannel of the same length is over. */
const stillSpeakingMs = 40
/** So much of a sound tells noise from speech; a noise that goes on is judged again by each stretch of this length. */
const stretchMs = 640
/** Less voice than this tells nothing. */
const tellingMs = 240
/** A shorter word, such as "no", cannot be told from a noise. */
const shortWordMs = 400

/**
 * Decides frame by frame whether the callee interrupts the agent. Words decide where they are known in time, else the
 * length and the sound of the voice.
 */
export class InterruptionJudge {
  #state: 'idle' | 'held' | 'noise' = 'idle'
  /** Loud or voiced frames in a row. */
  #loudRunMs = 0
  #silentRunMs = 0
  #spanMs = 0
  #voicedMs = 0
  #nearMs = 0
  #heldMs = 0
  #words: WordsKind | undefined

  /** Whether the agent's speech is held. */
  get isPaused(): boolean {
    return this.#state === 'held'
  }

  /** The engine reported words of the sound that goes on or has just ended. */
  words(kind: WordsKind): void {
    if (this.#state !== 'idle') this.#words = kind
  }

  /**
   * The next 20 ms.
   * @param isSpeaking whether the agent has speech to play
   * @param commitMs how much speech without words makes an interruption; undefined: nothing interrupts
   */
  push(
    frame: JudgedFrame,
    isSpeaking: boolean,
    commitMs: number | undefined,
  ): InterruptionVerdict | undefined {
    this.#count(frame, commitMs !== undefined)
    if (!isSpeaking || commitMs === undefined) {
      const wasHeld = this.#state === 'held'
      this.#enter('idle')
      return wasHeld ? 'resume' : undefined
    }
    switch (this.#state) {
      case 'idle':
        return this.#isSounding ? this.#hold() : undefined
      case 'held':
        return this.#judge(frame, commitMs)
      case 'noise':
        return this.#watchNoise(frame)
    }
  }

  /** Three frames of sound, one of them a voice. */
  get #isSounding(): boolean {
    return this.#loudRunMs >= pauseAfterMs && this.#silentRunMs < pauseAfterMs
  }

  #count({ isVoiced, isNear, isLoud }: JudgedFrame, isJudged: boolean): void {
    const isHeard = isVoiced && isJudged
    const isRun = isHeard || (isLoud && isJudged)
    this.#silentRunMs = isHeard ? 0 : this.#silentRunMs + frameMs
    this.#loudRunMs = isRun ? this.#loudRunMs + frameMs : 0
    if (this.#silentRunMs >= soundGapMs && this.#state !== 'held') {
      this.#spanMs = 0
      this.#voicedMs = 0
      this.#nearMs = 0
    } else this.#spanMs += frameMs
    if (isHeard) {
      this.#voicedMs += frameMs
      if (isNear) this.#nearMs += frameMs
    }
    if (this.#state === 'held') this.#heldMs += frameMs
  }

  #hold(): InterruptionVerdict {
    this.#enter('held')
    return 'pause'
  }

  #judge(frame: JudgedFrame, commitMs: number): InterruptionVerdict | undefined {
    if (this.#words === 'speech') return this.#end('yield')
    if (this.#words !== undefined) {
      if (this.#silentRunMs >= backchannelOverMs) return this.#end('resume')
      return this.#heldMs >= longestPauseMs ? this.#endInNoise() : undefined
    }
    if (this.#silentRunMs > stillSpeakingMs) return this.#judgeSilence(frame)
    const { likeness } = frame
    const isFar = this.#nearMs < this.#voicedMs * leastNearPart
    const isKnown = likeness.voicedMs >= tellingMs
    const isNoise = isFar || (isKnown && !likeness.isSpeech)
    if (this.#spanMs >= stretchMs && isNoise) return this.#endInNoise()
    const isLong = this.#voicedMs >= this.#spanMs * leastVoicedPart
    const isPerson = likeness.isSpeech && isLong && !likeness.isHum
    if (this.#spanMs >= commitMs && isPerson) return this.#end('yield')
    return this.#heldMs < longestPauseMs ? undefined : this.#endInNoise()
  }

  #judgeSilence({ likeness }: JudgedFrame): InterruptionVerdict | undefined {
    const isNoise = !likeness.isSpeech && this.#silentRunMs >= noiseOverMs
    const isOverdue = this.#silentRunMs >= wordsOverdueMs || this.#heldMs >= longestPauseMs
    const isShort = this.#voicedMs < shortWordMs
    if (isOverdue || (isNoise && !isShort)) return this.#end('resume')
    return undefined
  }

  /** The sound goes on, but the agent speaks over it. */
  #endInNoise(): InterruptionVerdict {
    this.#enter('noise')
    this.#spanMs = 0
    return 'resume'
  }

  #watchNoise({ likeness, isNear }: JudgedFrame): InterruptionVerdict | undefined {
    if (this.#words === 'speech') return this.#end('yield')
    if (this.#silentRunMs >= soundGapMs) {
      this.#enter('idle')
      return undefined
    }
    if (this.#spanMs < stretchMs) return undefined
    this.#spanMs = 0
    const isPerson = likeness.isSpeech && !likeness.isHum && isNear
    likeness.restart()
    return isPerson ? this.#hold() : undefined
  }

  #end(verdict: InterruptionVerdict): InterruptionVerdict {
    this.#enter('idle')
    return verdict
  }

  #enter(state: 'idle' | 'held' | 'noise'): void {
    this.#state = state
    this.#heldMs = 0
    this.#words = undefined
  }
}
