/** What holds while a call is in one phase. */
export interface PhaseRules {
  /** What the engine hears: the callee, silence, or the callee until a machine begins to record. */
  readonly engineHears: 'callee' | 'callee_until_recording' | 'silence'
  /** Which new utterance of the agent may begin. One that is playing already goes on. */
  readonly mayBegin: 'anything' | 'message' | 'goodbye' | 'nothing'
  /** How long the callee must speak into the agent's words to stop them; undefined: nothing stops them. */
  readonly interruptedAfterMs: number | undefined
  /** Whether the loop has the agent speak by itself: to a silent callee, about the time left, while a tool is slow. */
  readonly isPrompted: boolean
  /** How much later than usual a silent callee is prompted. */
  readonly patienceMs: number
  /** Which tool calls are carried out, and whether the model speaks on after an opt-out. */
  readonly tools: 'all' | 'all_without_reply' | 'opt_out_only'
  /** The phases that may follow. A step to any other is refused: another event came first. */
  readonly next: readonly PhaseName[]
}

export type PhaseName =
  'greeting' | 'talking' | 'screened' | 'voicemail' | 'transferring' | 'goodbye' | 'over'

/** An interruption takes 200 ms of speech; a greeting withstands a "Hello?" spoken into it. */
const interruptionMs = 200
const greetingInterruptionMs = 1_000
/** A person whom a screening assistant looks for may need as long as a phone rings. */
const screeningPatienceMs = 30_000

/** The phases of a call, from its answer to its end. Every rule of the live loop that depends on the phase is a cell here. */
export const phases: Readonly<Record<PhaseName, PhaseRules>> = {
  /** The agent's first utterance has not ended. */
  greeting: {
    engineHears: 'callee',
    mayBegin: 'anything',
    interruptedAfterMs: greetingInterruptionMs,
    isPrompted: true,
    patienceMs: 0,
    tools: 'all',
    next: ['talking', 'screened', 'voicemail', 'transferring', 'goodbye', 'over'],
  },
  talking: {
    engineHears: 'callee',
    mayBegin: 'anything',
    interruptedAfterMs: interruptionMs,
    isPrompted: true,
    patienceMs: 0,
    tools: 'all',
    next: ['screened', 'voicemail', 'transferring', 'goodbye', 'over'],
  },
  /** An assistant asked who is calling and looks for the person. */
  screened: {
    engineHears: 'callee',
    mayBegin: 'anything',
    interruptedAfterMs: interruptionMs,
    isPrompted: true,
    patienceMs: screeningPatienceMs,
    tools: 'all',
    next: ['screened', 'talking', 'voicemail', 'transferring', 'goodbye', 'over'],
  },
  /** A machine answered. It takes the message, if there is one, and then the call ends. */
  voicemail: {
    engineHears: 'callee_until_recording',
    mayBegin: 'message',
    interruptedAfterMs: undefined,
    isPrompted: false,
    patienceMs: 0,
    tools: 'all',
    next: ['over'],
  },
  /** The carrier was asked to connect the callee with a colleague, whose phone rings. */
  transferring: {
    engineHears: 'silence',
    mayBegin: 'anything',
    interruptedAfterMs: interruptionMs,
    isPrompted: false,
    patienceMs: 0,
    tools: 'all',
    next: ['greeting', 'talking', 'screened', 'goodbye', 'voicemail', 'over'],
  },
  /** The call ends as soon as the callee has heard the agent's last words. */
  goodbye: {
    engineHears: 'callee',
    mayBegin: 'goodbye',
    interruptedAfterMs: undefined,
    isPrompted: false,
    patienceMs: 0,
    tools: 'all_without_reply',
    next: ['voicemail', 'over'],
  },
  /** The loop asked to hang up, or the line is gone. The last words of the callee are still written down. */
  over: {
    engineHears: 'callee_until_recording',
    mayBegin: 'nothing',
    interruptedAfterMs: undefined,
    isPrompted: false,
    patienceMs: 0,
    tools: 'opt_out_only',
    next: [],
  },
}

/** After so many turns of words, the person whom a screening assistant looked for has answered. */
const screenedTurns = 2

/** The phase that one call is in. */
export class CallPhase {
  #name: PhaseName = 'greeting'
  #turnsUntilPerson = 0

  get name(): PhaseName {
    return this.#name
  }

  get rules(): PhaseRules {
    return phases[this.#name]
  }

  get isOver(): boolean {
    return this.#name === 'over'
  }

  /** Returns whether the table allows the step; if it does, the call is in this phase from now on. */
  enter(next: PhaseName): boolean {
    if (!this.rules.next.includes(next)) return false
    this.#name = next
    return true
  }

  /** The agent's first utterance is over, or will not be said. */
  greeted(): void {
    if (this.#name === 'greeting') this.enter('talking')
  }

  /** An assistant asked who is calling. */
  screened(): void {
    if (this.enter('screened')) this.#turnsUntilPerson = screenedTurns
  }

  /** The other side said words that were understood, or pressed a key. */
  heardWords(): void {
    if (this.#name !== 'screened') return
    this.#turnsUntilPerson -= 1
    if (this.#turnsUntilPerson === 0) this.enter('talking')
  }
}
