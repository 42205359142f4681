import { frameMs } from '../../audio/frame.ts'
import { readAnswer } from './answer-phrases.ts'
import { createGreetingCadence, type CadenceVerdict } from './greeting-cadence.ts'
import { createLineToneDetector, type LineTone } from './line-tones.ts'

/** Who or what answered. */
export type AnswerKind = 'voicemail' | 'screening' | NobodyKind | 'callee_gone'

/** A machine or network that answers without a person. */
export type NobodyKind = 'fax' | 'busy' | 'unobtainable'

export interface AnswerVerdict {
  readonly kind: AnswerKind
  readonly by: 'words' | 'beep' | 'tool' | 'tone'
}

/** The shortest speech of a machine before its beep. */
const leastGreetingMs = 500
/** A party that pauses for this long and speaks again takes turns, as people do. */
const turnPauseMs = 1_500
/** A later beep comes from a kitchen appliance, unless the words mention a machine. */
const beepAloneLimitMs = 30_000
/**
 * After this many turns of ordinary speech a person is certain; after one, if the greeting was
 * short.
 */
const turnsOfPerson = 2

/**
 * Joins rhythm, tones, words and the engine's own judgement; the README of this folder has the
 * decision table. It never waits, and the agent does not wait for it: the agent speaks to a person
 * until another verdict is certain.
 */
export class AnswerClassifier {
  readonly #cadence = createGreetingCadence()
  readonly #tones = createLineToneDetector()
  #nowMs = 0
  #voicedMs = 0
  #lastVoicedMs: number | undefined
  #hasTakenTurns = false
  #ordinaryTurns = 0
  #isMachineSuspected = false
  #isScreened = false
  #hasBeeped = false

  /** Whether a beep ended in the frame just pushed, whichever party answered. */
  get hasBeeped(): boolean {
    return this.#hasBeeped
  }

  get cadence(): CadenceVerdict {
    return this.#cadence.verdict
  }

  /** The next 20 ms of the other side: 160 samples at 8 kHz, and whether they are speech. */
  push(frame: Int16Array, isVoiced: boolean): AnswerVerdict | undefined {
    this.#listen(isVoiced)
    this.#hasBeeped = false
    const tone = this.#tones.push(frame)
    return tone && this.#judgeTone(tone)
  }

  /** Words that were understood. */
  heardText(text: string): AnswerVerdict | undefined {
    const phrase = readAnswer(text)
    this.#isScreened = phrase === 'screening'
    switch (phrase) {
      case 'announcement':
        return this.#isPerson ? undefined : { kind: 'unobtainable', by: 'words' }
      case 'voicemail':
        // After a person has talked with us, these words need more: the person may have transferred
        // us, or only mention a voicemail.
        return this.#suspect(!this.#isPerson)
      case 'maybe_voicemail':
        // A receptionist also says this, in long sentences: only a beep or the engine makes it
        // certain.
        return this.#suspect(false)
      case 'screening':
        return { kind: 'screening', by: 'words' }
      case undefined:
        this.#ordinaryTurns += 1
        return undefined
    }
  }

  /**
   * The engine reports that a machine answered. Undefined: the report is wrong, because an
   * assistant screens the call.
   */
  engineSaysVoicemail(): AnswerVerdict | undefined {
    return this.#isScreened ? undefined : { kind: 'voicemail', by: 'tool' }
  }

  get #isPerson(): boolean {
    const isShort = this.#cadence.verdict === 'short'
    return this.#ordinaryTurns >= turnsOfPerson || (this.#ordinaryTurns === 1 && isShort)
  }

  #listen(isVoiced: boolean): void {
    this.#nowMs += frameMs
    this.#cadence.push(isVoiced)
    if (!isVoiced) return
    const pauseMs = this.#lastVoicedMs === undefined ? 0 : this.#nowMs - this.#lastVoicedMs
    this.#hasTakenTurns ||= pauseMs > turnPauseMs
    this.#lastVoicedMs = this.#nowMs
    this.#voicedMs += frameMs
  }

  #judgeTone(tone: LineTone): AnswerVerdict | undefined {
    switch (tone.kind) {
      case 'beep':
        return this.#judgeBeep(tone)
      case 'busy':
        // Some networks play it to the remaining side after the other has hung up.
        return { kind: this.#ordinaryTurns > 0 ? 'callee_gone' : 'busy', by: 'tone' }
      case 'special_information':
        return this.#isPerson ? undefined : { kind: 'unobtainable', by: 'tone' }
      case 'fax':
        return this.#isPerson ? undefined : { kind: 'fax', by: 'tone' }
    }
  }

  #judgeBeep({ isLow }: Extract<LineTone, { kind: 'beep' }>): AnswerVerdict | undefined {
    this.#hasBeeped = true
    const voicemail = { kind: 'voicemail', by: 'beep' } as const
    if (this.#isMachineSuspected) return voicemail
    if (this.#isPerson || this.#hasTakenTurns) return undefined
    if (this.#voicedMs < leastGreetingMs || this.#nowMs > beepAloneLimitMs) return undefined
    return isLow && this.#cadence.verdict !== 'long' ? undefined : voicemail
  }

  #suspect(isCertain: boolean): AnswerVerdict | undefined {
    this.#isMachineSuspected = true
    return isCertain ? { kind: 'voicemail', by: 'words' } : undefined
  }
}
