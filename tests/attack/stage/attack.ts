import type { Stage } from './stage.ts'

/** One promise of docs/security.md, and the attack on it. */
export interface Attack {
  readonly name: string
  /** The promise, for the row. */
  readonly goal: string
  /** Takes minutes: only in the full run. */
  readonly isLong?: true
  /** Judged by wall time: a failure is tried again, because the machine may have been busy. */
  readonly isTimed?: true
  run(stage: Stage, limits: Limits): Promise<Result>
}

export interface Result {
  /** The measured figures, for the row. */
  readonly figure: string
  /** Promises that were broken. */
  readonly problems: readonly string[]
  /** For the last line. */
  readonly figures?: Partial<Figures>
}

/** The maximum of each over all attacks. */
export interface Figures {
  /** The cost of one message. */
  messageMs: number
  /** Bytes that strangers received. */
  strangerBytes: number
  memoryMb: number
  healthzMs: number
}

/** Limits of measured times. Tests run beside others, so theirs are wider; a broken promise exceeds them by far. */
export interface Limits {
  readonly messageMs: number
  readonly healthzMs: number
  readonly memoryMb: number
  readonly ringMs: number
}

export const limits: Limits = { messageMs: 20, healthzMs: 200, memoryMb: 150, ringMs: 5_000 }
export const testLimits: Limits = {
  messageMs: 200,
  healthzMs: 3_000,
  memoryMb: 300,
  ringMs: 20_000,
}
