import { randomBase62 } from '../runtime/ids.ts'

/** A password for an account that was given none: 119 bits. */
export const makePassword = (): string => randomBase62(20)
