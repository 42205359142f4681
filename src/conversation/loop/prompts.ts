import { goodbyeBeforeCapMs, judgeDuration } from './duration-policy.ts'
import { longestGoodbyeMs, type HangUp } from './hang-up.ts'
import type { CallPhase } from './phases.ts'
import type { Phrases } from '../engine/phrases.ts'
import { createSilencePolicy } from './silence-policy.ts'

interface PromptsOptions {
  readonly phase: CallPhase
  readonly hangUp: HangUp
  readonly phrases: Phrases
  readonly maxDurationMs: number
  say(text: string): void
  /** Stops what the agent is saying. */
  silenceAgent(): void
  /** The agent asks whether the callee is there. */
  onAsked(): void
}

/**
 * The prompts that the loop gives by itself: to a silent callee, about the time left, during a slow
 * tool.
 */
export class Prompts {
  readonly #options: PromptsOptions
  readonly #silence = createSilencePolicy()
  #isUnheard = false

  constructor(options: PromptsOptions) {
    this.#options = options
  }

  /** A frame of the agent's speech went to the callee. */
  agentPlayed(): void {
    this.#isUnheard = false
  }

  /** The agent has finished an utterance. */
  agentFinished(): void {
    this.#silence.agentFinished()
  }

  /** The callee said something that was understood, or pressed a key. */
  calleeUnderstood(): void {
    this.#silence.heardWords()
  }

  /** The callee took the line back: their silence is counted anew. */
  resumed(): void {
    this.#silence.heardWords()
  }

  /** One tick; `isQuiet`: neither side is speaking. */
  watchSilence(isQuiet: boolean): void {
    const { phase, hangUp, phrases } = this.#options
    const verdict = this.#silence.tick(isQuiet, phase.rules.patienceMs)
    if (verdict === undefined || !phase.rules.isPrompted) return
    if (verdict === 'prompt') {
      this.#isUnheard = true
      this.#options.onAsked()
      return this.#options.say(phrases.areYouThere)
    }
    // An engine that has not spoken the last prompt for eight seconds has failed; the callee is not to blame.
    if (this.#isUnheard) return hangUp.now('engine_failed')
    this.#options.say(phrases.goodbye)
    hangUp.request('callee_silent', { awaitsSpeech: true, limitMs: longestGoodbyeMs })
  }

  /** One tick. */
  watchDuration(nowMs: number): void {
    const { phase, hangUp, phrases, maxDurationMs } = this.#options
    const verdict = judgeDuration(nowMs, maxDurationMs)
    if (verdict === 'end') return hangUp.now('duration_cap')
    if (!phase.rules.isPrompted) return
    if (verdict === 'warn') this.#options.say(phrases.timeIsShort)
    if (verdict !== 'say_goodbye') return
    this.#options.silenceAgent()
    this.#options.say(phrases.goodbye)
    hangUp.request('duration_cap', { awaitsSpeech: true, limitMs: goodbyeBeforeCapMs })
  }

  /** A tool takes so long that the callee should be told. */
  toolIsSlow(): void {
    if (this.#options.phase.rules.isPrompted) this.#options.say(this.#options.phrases.oneMoment)
  }
}
