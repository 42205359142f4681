import type { BargeIn } from './barge-in.ts'
import type { CalleeSpeech } from './callee-speech.ts'
import { frameMs } from '../../audio/frame.ts'
import { HeardSounds, type Sound } from './heard-sounds.ts'
import { createBackgroundGate } from '../turn-taking/background-gate.ts'
import { silenceThatEnds } from '../turn-taking/end-of-turn.ts'
import { InterruptionJudge, type InterruptionVerdict } from '../turn-taking/interruption-judge.ts'
import type { Sensitivity, TurnTakingSettings } from '../turn-taking/turn-taking-settings.ts'
import { createTurnWords, type TurnWords } from '../turn-taking/turn-words.ts'
import type { LoopTurns } from '../engine/voice-engine.ts'

interface TurnTakingOptions {
  readonly settings: TurnTakingSettings
  /** BCP 47. */
  readonly language: string
  readonly hasGreeting: boolean
  readonly engine: LoopTurns
  /** The callee's turn is over, and the agent is asked to reply. */
  readonly onTurnOver: () => void
}

/** What the agent is doing in this frame. */
interface AgentMoment {
  /** It has speech to play. */
  readonly isBusy: boolean
  /** Less than this much of its speech is left, as far as it has arrived. */
  readonly remainingMs: number
}

/** `turn`: the callee's words; `aside`: words that need no reply; `ignored`: no words of the callee to the agent. */
type WordsVerdict = 'turn' | 'aside' | 'ignored'

/** How much speech without known words makes an interruption. */
const commitMs: Readonly<Record<Sensitivity, number>> = { high: 520, normal: 1_000, low: 1_500 }
/** An "okay" so shortly before the end of a question replies to it. */
const endOfQuestionMs = 800
/** A shorter sound without words asks for no reply. */
const leastSpeechMs = 200

/**
 * Owns the turns of a call whose engine leaves them to the loop: what interrupts the agent, what is a turn of the
 * callee, and when it is over.
 */
export class TurnTaking implements BargeIn {
  readonly #options: TurnTakingOptions
  readonly #words: TurnWords
  readonly #judge = new InterruptionJudge()
  readonly #sounds = new HeardSounds()
  readonly #gate = createBackgroundGate()
  readonly #texts: string[] = []
  #agentText = ''
  /** Speech that the engine reported, and whose words it did not report yet. */
  #outstanding = 0
  #isOpen = false
  #isLoud = false
  #mustYield = false
  #nowMs = 0
  #repliedAtMs = -1
  #engineStopMs = 0

  constructor(options: TurnTakingOptions) {
    const { language, settings } = options
    this.#options = options
    this.#words = createTurnWords(language, settings.backchannelWords)
  }

  get isPaused(): boolean {
    return this.#judge.isPaused
  }

  /**
   * The next frame of the callee. Returns whether the engine hears it.
   * @param isEcho whether it is only the agent's own voice
   */
  hear(callee: CalleeSpeech, isEcho: boolean, isAgentBusy: boolean, isGreeting: boolean): boolean {
    this.#nowMs += frameMs
    const { level } = this.#sounds
    this.#sounds.push(callee.samples, callee.energy, callee.isVoiced && !isEcho, {
      beganInAgentSpeech: isAgentBusy,
      beganInGreeting: isGreeting,
    })
    this.#isLoud = !isEcho && level.isLoud(callee.energy)
    return this.#gate.push(callee.isVoiced, level.isNear || !level.isKnown)
  }

  push(
    isVoiced: boolean,
    isSpeaking: boolean,
    interruptedAfterMs: number | undefined,
  ): InterruptionVerdict | undefined {
    const { level, likeness } = this.#sounds
    const isNear = level.isNear
    const limitMs = commitMs[this.#options.settings.interruptionSensitivity]
    const verdict = this.#judge.push(
      {
        isVoiced: isVoiced && (isNear || !this.#gate.isActive),
        isNear,
        isLoud: this.#isLoud,
        likeness,
      },
      isSpeaking,
      interruptedAfterMs === undefined ? undefined : Math.max(limitMs, interruptedAfterMs),
    )
    const isYielding = this.#mustYield && isSpeaking && interruptedAfterMs !== undefined
    this.#mustYield = false
    if (verdict !== 'yield') return isYielding ? 'yield' : verdict
    const cut = this.#sounds.since(this.#nowMs).at(-1)
    if (cut) cut.hasCutAgent = true
    this.#isOpen = true
    return verdict
  }

  /** The agent's words: the callee's may answer them. */
  agentSaid(text: string): void {
    this.#agentText = text
  }

  speechStarted(): void {
    this.#outstanding += 1
  }

  /** The engine heard the end of a stretch of speech. */
  speechStopped(): void {
    this.#engineStopMs = this.#nowMs
    const sound = this.#sounds.since(this.#nowMs - stretchMs).at(-1)
    const isCallee = sound?.isSpeech === true && sound.voicedMs >= leastSpeechMs
    if (isCallee && !sound.beganInAgentSpeech && !this.#isFar([sound])) this.#isOpen = true
  }

  /** The engine reported words for the speech that began at `startMs`; unrecognised speech has none. */
  heardWords(text: string, startMs: number, agent: AgentMoment): WordsVerdict {
    this.#outstanding = Math.max(0, this.#outstanding - 1)
    const verdict = this.#judgeWords(text, this.#sounds.since(startMs), agent)
    if (verdict === 'ignored') this.#options.engine.dismiss(startMs)
    return verdict
  }

  /** The callee was asked whether they are there: any voice that replies is theirs. */
  asked(): void {
    this.#sounds.level.forget()
  }

  /** One tick: the reply is asked for when the callee has finished. */
  tick(isAgentBusy: boolean): void {
    if (!this.#isOpen || isAgentBusy) return
    const isAwaited = this.#outstanding > 0 && this.#options.engine.needsWords
    if (isAwaited) return
    const quietSinceMs = Math.max(this.#sounds.nearUntilMs, this.#engineHeardUntilMs)
    const silenceMs = this.#nowMs - quietSinceMs
    if (silenceMs < this.#silenceThatEnds()) return
    this.#isOpen = false
    this.#texts.length = 0
    this.#outstanding = 0
    this.#repliedAtMs = this.#nowMs
    this.#options.engine.reply()
    this.#options.onTurnOver()
  }

  /** Where our own detector missed speech, the end that the engine found counts. */
  get #engineHeardUntilMs(): number {
    return this.#sounds.nearUntilMs === 0 ? this.#engineStopMs : 0
  }

  #silenceThatEnds(): number {
    const said = this.#texts.join(' ')
    const end = said === '' ? undefined : this.#words.endOf(said)
    const { patience } = this.#options.settings
    const isGroupsAsked = this.#words.asksForGroups(this.#agentText)
    const known = silenceThatEnds({ end, isGroupsAsked, patience })
    if (this.#outstanding === 0) return known
    return Math.max(known, silenceThatEnds({ end: undefined, isGroupsAsked, patience }))
  }

  #judgeWords(text: string, sounds: readonly Sound[], agent: AgentMoment): WordsVerdict {
    const kind = this.#words.kindOf(text)
    const [first] = sounds
    const wasInAgentSpeech = first?.beganInAgentSpeech ?? agent.isBusy
    const hasCut = sounds.some(({ hasCutAgent }) => hasCutAgent)
    if (!first && (agent.isBusy || kind === 'nothing')) return 'ignored'
    if (this.#isFar(sounds)) return this.#noTurn('ignored')
    if (kind === 'nothing') return this.#withoutWords(text, sounds, wasInAgentSpeech, hasCut)
    if (first && this.#isPickUp(text, first)) return this.#noTurn('ignored')
    const isStillBusy = wasInAgentSpeech && agent.isBusy && !hasCut
    if (isStillBusy && kind === 'backchannel' && !this.#answersQuestion(agent))
      return this.#noTurn('aside')
    if (isStillBusy) {
      this.#judge.words('speech')
      this.#mustYield = true
    }
    return this.#turn(text, sounds)
  }

  #turn(text: string, sounds: readonly Sound[]): WordsVerdict {
    const peak = Math.max(...sounds.map((sound) => sound.peak))
    if (sounds.length > 0 && peak > 0) this.#sounds.level.learn(peak)
    const until = sounds.at(-1)?.endMs ?? this.#nowMs
    // The reply that was asked for before these words came replies to them, too.
    if (until <= this.#repliedAtMs) return 'turn'
    this.#texts.push(text)
    if (this.#texts.length > maxTexts) this.#texts.shift()
    this.#isOpen = true
    return 'turn'
  }

  #withoutWords(
    text: string,
    sounds: readonly Sound[],
    wasInAgentSpeech: boolean,
    hasCut: boolean,
  ): WordsVerdict {
    this.#judge.words('nothing')
    // The agent lost the floor to what had no words: it goes on by itself.
    if (hasCut) return this.#turn(text, sounds)
    const isSpeech = sounds.some((sound) => sound.isSpeech)
    if (text !== '' && wasInAgentSpeech && isSpeech && isLong(sounds)) {
      this.#mustYield = true
      return this.#turn(text, sounds)
    }
    if (text === '' || wasInAgentSpeech || !isSpeech) {
      if (this.#texts.length === 0) this.#isOpen = false
      return 'ignored'
    }
    return this.#turn(text, sounds)
  }

  #noTurn(verdict: WordsVerdict): WordsVerdict {
    this.#judge.words('backchannel')
    if (this.#texts.length === 0) this.#isOpen = false
    return verdict
  }

  #isPickUp(text: string, first: Sound): boolean {
    const { hasGreeting, settings } = this.#options
    const isGreeted = hasGreeting && settings.firstWords !== 'callee'
    return isGreeted && first.beganInGreeting && this.#words.isHello(text)
  }

  #answersQuestion({ remainingMs }: AgentMoment): boolean {
    return remainingMs <= endOfQuestionMs && this.#agentText.trimEnd().endsWith('?')
  }

  /** Whether the sounds are clearly farther away than the callee. */
  #isFar(sounds: readonly Sound[]): boolean {
    const { level } = this.#sounds
    const [first] = sounds
    if (!first || (!level.isKnown && !first.beganInAgentSpeech)) return false
    return !sounds.some(({ peak }) => level.isNearPeak(peak))
  }
}

const stretchMs = 1_000
/** Speech without words that is longer than any backchannel. */
const longSpeechMs = 700

const isLong = (sounds: readonly Sound[]): boolean =>
  sounds.reduce((sum, { voicedMs }) => sum + voicedMs, 0) >= longSpeechMs

/** More texts in one turn than a number has groups. */
const maxTexts = 32
