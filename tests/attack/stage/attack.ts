import type { Stage } from './stage.ts'

/** One promise of docs/security.md, and what is done to break it. */
export interface Attack {
  readonly name: string
  /** What is promised, for the row. */
  readonly goal: string
  /** Takes minutes: only where everything is asked for. */
  readonly isLong?: true
  /** Judged by a clock: what fails is tried again, as the machine may have been busy with something else. */
  readonly isTimed?: true
  run(stage: Stage, limits: Limits): Promise<Result>
}

export interface Result {
  /** What was measured, for the row. */
  readonly figure: string
  /** Promises that were broken. */
  readonly problems: readonly string[]
  /** For the last line. */
  readonly figures?: Partial<Figures>
}

/** The largest of each over all attacks. */
export interface Figures {
  /** What one message cost. */
  messageMs: number
  /** Bytes that strangers were sent. */
  strangerBytes: number
  memoryMb: number
  healthzMs: number
}

/** What clocks may show. Tests run beside others, so theirs are wider; what is broken is off by more than that. */
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
