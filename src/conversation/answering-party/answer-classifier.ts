import { frameMs } from '../../audio/frame.ts'
import { readAnswer } from './answer-phrases.ts'
import { createGreetingCadence, type CadenceVerdict } from './greeting-cadence.ts'
import { createLineToneDetector, type LineTone } from './line-tones.ts'

/** Who, or what, answered. */
export type AnswerKind = 'voicemail' | 'screening' | NobodyKind | 'callee_gone'

/** Apparatus and networks that answer in nobody's place. */
export type NobodyKind = 'fax' | 'busy' | 'unobtainable'

export interface AnswerVerdict {
  readonly kind: AnswerKind
  readonly by: 'words' | 'beep' | 'tool' | 'tone'
}

/**
 * Joins rhythm, tones, words and the engine's own judgement; the README of this folder holds the decision table. It never
 * waits and nobody waits for it: the agent speaks to a person until something else is certain.
 */
export interface AnswerClassifier {
  /** The next 20 ms of the other side: 160 samples at 8 kHz, and whether they are speech. */
  push(frame: Int16Array, isVoiced: boolean): AnswerVerdict | undefined
  /** What was understood; not what was heard but not understood. */
  heardText(text: string): AnswerVerdict | undefined
  /** The engine says that a machine answered. `undefined`: it is wrong, an assistant screens the call. */
  engineSaysVoicemail(): AnswerVerdict | undefined
  /** Whether a beep ended in the frame just pushed, whoever answered. */
  readonly hasBeeped: boolean
  readonly cadence: CadenceVerdict
}

/** What a machine says before its beep is at least this long. */
const leastGreetingMs = 500
/** Who pauses for so long and speaks again takes turns, as people do. */
const turnPauseMs = 1_500
/** A beep that comes later is one of somebody's kitchen, unless the words spoke of a machine. */
const beepAloneLimitMs = 30_000
/** Turns of ordinary speech after which a person is certainly there; one, if the greeting was short. */
const turnsOfPerson = 2

export const createAnswerClassifier = (): AnswerClassifier => {
  const cadence = createGreetingCadence()
  const tones = createLineToneDetector()
  let nowMs = 0
  let voicedMs = 0
  let lastVoicedMs: number | undefined
  let hasTakenTurns = false
  let ordinaryTurns = 0
  let isMachineSuspected = false
  let isScreened = false
  let hasBeeped = false

  const isPerson = (): boolean =>
    ordinaryTurns >= turnsOfPerson || (ordinaryTurns === 1 && cadence.verdict === 'short')

  const isMachineLike = (): boolean => cadence.verdict === 'long'

  const judgeBeep = ({ isLow }: Extract<LineTone, { kind: 'beep' }>): AnswerVerdict | undefined => {
    hasBeeped = true
    const voicemail = { kind: 'voicemail', by: 'beep' } as const
    if (isMachineSuspected) return voicemail
    if (isPerson() || hasTakenTurns) return undefined
    if (voicedMs < leastGreetingMs || nowMs > beepAloneLimitMs) return undefined
    return isLow && !isMachineLike() ? undefined : voicemail
  }

  const judgeTone = (tone: LineTone): AnswerVerdict | undefined => {
    switch (tone.kind) {
      case 'beep':
        return judgeBeep(tone)
      case 'busy':
        // Some networks play it to whoever is left when the other side has hung up.
        return { kind: ordinaryTurns > 0 ? 'callee_gone' : 'busy', by: 'tone' }
      case 'special_information':
        return isPerson() ? undefined : { kind: 'unobtainable', by: 'tone' }
      case 'fax':
        return isPerson() ? undefined : { kind: 'fax', by: 'tone' }
    }
  }

  const listen = (isVoiced: boolean): void => {
    nowMs += frameMs
    cadence.push(isVoiced)
    if (!isVoiced) return
    hasTakenTurns ||= lastVoicedMs !== undefined && nowMs - lastVoicedMs > turnPauseMs
    lastVoicedMs = nowMs
    voicedMs += frameMs
  }

  const suspect = (isCertain: boolean): AnswerVerdict | undefined => {
    isMachineSuspected = true
    return isCertain ? { kind: 'voicemail', by: 'words' } : undefined
  }

  return {
    push(frame, isVoiced) {
      listen(isVoiced)
      hasBeeped = false
      const tone = tones.push(frame)
      return tone && judgeTone(tone)
    },
    heardText(text) {
      const phrase = readAnswer(text)
      isScreened = phrase === 'screening'
      switch (phrase) {
        case 'announcement':
          return isPerson() ? undefined : { kind: 'unobtainable', by: 'words' }
        case 'voicemail':
          // Once a person has talked with us it takes more: they may have passed us on, or only speak of a voicemail.
          return suspect(!isPerson())
        case 'maybe_voicemail':
          // A receptionist says so, and in long sentences: only a beep or the engine makes it certain.
          return suspect(false)
        case 'screening':
          return { kind: 'screening', by: 'words' }
        case undefined:
          ordinaryTurns += 1
          return undefined
      }
    },
    engineSaysVoicemail: () => (isScreened ? undefined : { kind: 'voicemail', by: 'tool' }),
    get hasBeeped() {
      return hasBeeped
    },
    get cadence() {
      return cadence.verdict
    },
  }
}
