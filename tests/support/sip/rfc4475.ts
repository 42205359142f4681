import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One message of RFC 4475, byte for byte, and what the RFC expects of an element that receives it. */
export interface OriginalMessage {
  readonly name: string
  readonly section: string
  readonly bytes: Buffer
  /** The refusal that the parser finds; absent where the message must be taken. */
  readonly fault?: 400 | 505
  /**
   * What a user agent without calls and without a registrar responds; absent where it is silent: to responses, and to
   * requests whose start line, end or Via cannot be read.
   */
  readonly answer?: number
}

type Row = readonly [name: string, section: string, answer?: number]

const valid: readonly Row[] = [
  // Its To has a tag, of no dialog. Another INVITE is refused by 403, because no handler takes calls; a REGISTER by
  // 405, because we are no registrar.
  ['wsinv', '3.1.1.1', 481],
  ['intmeth', '3.1.1.2', 501],
  ['esc01', '3.1.1.3', 403],
  ['escnull', '3.1.1.4', 405],
  ['esc02', '3.1.1.5', 501],
  ['lwsdisp', '3.1.1.6', 200],
  ['longreq', '3.1.1.7', 403],
  ['dblreq', '3.1.1.8', 405],
  ['semiuri', '3.1.1.9', 200],
  ['transports', '3.1.1.10', 200],
  ['mpart01', '3.1.1.11', 405],
  ['unreason', '3.1.1.12'],
  ['noreason', '3.1.1.13'],
]

const invalid: readonly Row[] = [
  ['badinv01', '3.1.2.1', 400],
  ['clerr', '3.1.2.2', 400],
  ['ncl', '3.1.2.3', 400],
  ['scalar02', '3.1.2.4', 400],
  ['scalarlg', '3.1.2.5'],
  ['quotbal', '3.1.2.6', 400],
  ['ltgtruri', '3.1.2.7', 400],
  ['lwsruri', '3.1.2.8'],
  ['lwsstart', '3.1.2.9'],
  ['trws', '3.1.2.10'],
  ['escruri', '3.1.2.11', 400],
  // The RFC lets an element that does not read Date ignore its zone.
  ['baddate', '3.1.2.12', 403],
  ['regbadct', '3.1.2.13', 400],
  ['badaspec', '3.1.2.14', 400],
  ['baddn', '3.1.2.15'],
  // Its Via has the other version as well: no response finds its way back.
  ['badvers', '3.1.2.16'],
  ['mismatch01', '3.1.2.17', 400],
  ['mismatch02', '3.1.2.18', 400],
  ['bigcode', '3.1.2.19'],
]

const meaning: readonly Row[] = [
  ['badbranch', '3.2.1', 200],
  ['insuf', '3.3.1', 400],
  ['unkscm', '3.3.2', 416],
  ['novelsc', '3.3.3', 416],
  ['unksm2', '3.3.4', 405],
  ['bext01', '3.3.5', 420],
  ['invut', '3.3.6', 415],
  ['regaut01', '3.3.7', 405],
  ['multi01', '3.3.8', 400],
  ['mcl01', '3.3.9', 400],
  ['bcast', '3.3.10'],
  ['zeromf', '3.3.11', 200],
  ['cparam01', '3.3.12', 405],
  ['cparam02', '3.3.13', 405],
  ['regescrt', '3.3.14', 405],
  ['sdp01', '3.3.15', 406],
  ['inv2543', '3.4.1', 403],
]

const folder = join(import.meta.dirname, 'rfc4475')
const taken = new Set(['baddate'])
const refusedByMeaning = new Set(['insuf', 'multi01', 'mcl01'])

const isFaulty = (group: string, name: string): boolean =>
  group === 'invalid' ? !taken.has(name) : refusedByMeaning.has(name)

const read =
  (group: string) =>
  ([name, section, answer]: Row): OriginalMessage => ({
    name,
    section,
    bytes: readFileSync(join(folder, group, `${name}.dat`)),
    ...(isFaulty(group, name) ? { fault: name === 'badvers' ? 505 : 400 } : {}),
    ...(answer === undefined ? {} : { answer }),
  })

/** The 49 messages of RFC 4475, as its appendix A carries them. */
export const originalMessages: readonly OriginalMessage[] = [
  ...valid.map(read('valid')),
  ...invalid.map(read('invalid')),
  ...meaning.map(read('meaning')),
]
