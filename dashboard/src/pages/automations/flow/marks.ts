/** What is shown on a step besides what it does. */
export interface StepMark {
  /** Active runs that stand there. */
  readonly runs?: number | undefined
  readonly problems?: readonly string[]
  /** Of a run that is replayed: it was there, or it is there at the instant that is shown. */
  readonly place?: 'passed' | 'here' | undefined
}

export type StepMarks = ReadonlyMap<string, StepMark>
