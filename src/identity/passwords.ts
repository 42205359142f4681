import { randomBase62 } from '../runtime/ids.ts'

/** In UTF-16 code units, as better-auth counts. */
export const minPasswordLength = 8
export const maxPasswordLength = 128

/** A password for an account that was given none: 119 bits. */
export const makePassword = (): string => randomBase62(20)
