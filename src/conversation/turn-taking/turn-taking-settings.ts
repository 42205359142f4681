/** How an agent takes turns: the member `turn_taking` of its file, with its defaults filled in. */
export interface TurnTakingSettings {
  /** How long the agent waits for a callee who pauses: a factor of every silence that ends a turn. */
  readonly patience: Patience
  /** How much speech without known words interrupts the agent. */
  readonly interruptionSensitivity: Sensitivity
  /** Words that do not interrupt, besides those of the language. */
  readonly backchannelWords: readonly string[]
  readonly firstWords: FirstWords
}

export type Patience = 'short' | 'normal' | 'long'
export type Sensitivity = 'low' | 'normal' | 'high'
/**
 * Who speaks first. `agent`: the greeting follows the answer at once; `wait`: it waits a second for the callee's
 * "Hello?"; `callee`: the agent replies to what the callee says first.
 */
export type FirstWords = 'agent' | 'wait' | 'callee'

export const usualTurnTaking: TurnTakingSettings = {
  patience: 'normal',
  interruptionSensitivity: 'normal',
  backchannelWords: [],
  firstWords: 'agent',
}
