import { z } from 'zod'

/* What an administrator sets for a number that callees see (D16), as commands and the dashboard write it. */

/** More calls a day than one number can make. */
const maxCallsPerDay = 100_000

export const numberSettings = z.strictObject({
  /** Calls show it on this trunk only; null: on any. */
  trunk: z.string().min(1).max(63).nullable().default(null),
  /** Null: as many as there are. */
  calls_per_day: z.int().min(1).max(maxCallsPerDay).nullable().default(null),
  /** Whether it rests by itself where carriers or callees refuse it. */
  rest_when_flagged: z.boolean().default(false),
})

export type NumberInput = z.input<typeof numberSettings>
export type NumberSettings = z.output<typeof numberSettings>
