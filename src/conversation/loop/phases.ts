/** The rules of one phase of a call. */
interface PhaseRules {
  /** What the engine hears: the callee, silence, or the callee until a machine begins to record. */
  readonly engineHears: 'callee' | 'callee_until_recording' | 'silence'
  /** Which new utterance of the agent may begin. A playing utterance continues. */
  readonly mayBegin: 'anything' | 'message' | 'goodbye' | 'nothing'
  /** How long the callee must speak to interrupt the agent; undefined: nothing interrupts. */
  readonly interruptedAfterMs: number | undefined
  /**
   * Whether the loop prompts the agent by itself: for a silent callee, the time left, a slow tool.
   */
  readonly isPrompted: boolean
  /** How much later than usual a silent callee is prompted. */
  readonly patienceMs: number
  /** Which tool calls run, and whether the model continues to speak after an opt-out. */
  readonly tools: 'all' | 'all_without_reply' | 'opt_out_only'
  /** The phases that may follow. Any other step is refused, because another event came first. */
  readonly next: readonly PhaseName[]
}

export type PhaseName =
  'greeting' | 'talking' | 'screened' | 'voicemail' | 'transferring' | 'goodbye' | 'over'

/** 200 ms of speech make an interruption; a greeting survives a "Hello?" spoken into it. */
const interruptionMs = 200
const greetingInterruptionMs = 1_000
/** A screening assistant may take as long to find the person as a phone rings. */
const screeningPatienceMs = 30_000

/**
 * The phases of a call, from its answer to its end. Every rule of the live loop that depends on the
 * phase is a cell here.
 */
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
  /** A machine answered. It records the message, if there is one; then the call ends. */
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
  /** The call ends when the callee has heard the agent's last words. */
  goodbye: {
    engineHears: 'callee',
    mayBegin: 'goodbye',
    interruptedAfterMs: undefined,
    isPrompted: false,
    patienceMs: 0,
    tools: 'all_without_reply',
    next: ['voicemail', 'over'],
  },
  /**
   * The loop requested the hang-up, or the line is gone. The callee's last words are still recorded
   * as turns.
   */
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

/**
 * While the callee holds the line, in any phase but the last: these cells replace the phase's own. What the agent was
 * about to say waits, and music on hold is heard by no part of the loop.
 */
export const held = {
  engineHears: 'silence',
  interruptedAfterMs: undefined,
  isPrompted: false,
} as const satisfies Partial<PhaseRules>

/**
 * After this many turns of words, the person whom a screening assistant looked for has answered.
 */
const screenedTurns = 2

/** The current phase of one call. */
export class CallPhase {
  #name: PhaseName = 'greeting'
  #isOnHold = false
  #rules: PhaseRules = phases.greeting
  #turnsUntilPerson = 0

  get name(): PhaseName {
    return this.#name
  }

  get rules(): PhaseRules {
    return this.#rules
  }

  /** Whether the callee holds the line of a call that is not over. */
  get isHeld(): boolean {
    return this.#isOnHold && !this.isOver
  }

  get isOver(): boolean {
    return this.#name === 'over'
  }

  /** Returns whether the table allows the step; if so, the call enters this phase. */
  enter(next: PhaseName): boolean {
    if (!this.rules.next.includes(next)) return false
    this.#name = next
    this.#choose()
    return true
  }

  /** The callee holds the line, or took it back. Returns false if this is no news. */
  hold(isHeld: boolean): boolean {
    if (isHeld === this.#isOnHold) return false
    this.#isOnHold = isHeld
    this.#choose()
    return !this.isOver
  }

  /** The agent's first utterance is over, or will not be said. */
  greeted(): void {
    if (this.#name === 'greeting') this.enter('talking')
  }

  /** An assistant asked who is calling. */
  screened(): void {
    if (this.enter('screened')) this.#turnsUntilPerson = screenedTurns
  }

  /** The other side said understood words, or pressed a key. */
  heardWords(): void {
    if (this.#name !== 'screened') return
    this.#turnsUntilPerson -= 1
    if (this.#turnsUntilPerson === 0) this.enter('talking')
  }

  #choose(): void {
    const rules = phases[this.#name]
    this.#rules = this.isHeld ? { ...rules, ...held } : rules
  }
}
