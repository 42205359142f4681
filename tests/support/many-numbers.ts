import { personaFor, type Persona } from '../../src/telephony/sandbox/personas.ts'

/*
 * Two calls to one number are never live at once (D3), so load needs more numbers than the sandbox has personas.
 * Numbers from +12022000000 on, with the persona in the last two digits: +12022000301 is busy like +12025550101.
 */

const prefix = '+1202200'
/** Numbers of one persona. */
const maxNumbers = 100

/** The `index`th number of the persona at `number` in the operator manual. */
export const numberOf = (number: string, index: number): string => {
  if (index < 0 || index >= maxNumbers) throw new Error(`a persona has ${maxNumbers} numbers`)
  return `${prefix}${String(index).padStart(2, '0')}${number.slice(-2)}`
}

export const personaOfMany = (number: string): Persona =>
  personaFor(number.startsWith(prefix) ? `+120255501${number.slice(-2)}` : number)
