import type { CountryCode } from 'libphonenumber-js/max'
import type { z } from 'zod'
import { contactInput } from '../../../contract/contacts.ts'
import { isStorableText } from '../../../contract/text.ts'
import type { CallingPolicy } from '../../organizations/calling-policy.ts'
import {
  describeDestinationProblem,
  destinationProblem,
} from '../../organizations/phone-destination.ts'
import { toE164 } from '../../../numbering/national-number.ts'
import { personInput, type PersonInput } from '../person-input.ts'
import type { Column, CsvRow } from './contact-csv.ts'
import type { RowProblem } from './row-problems.ts'

/** A row that may be called, and its place in the file. */
interface CheckedRow {
  readonly row: number
  readonly input: PersonInput
}

interface CheckedRows {
  readonly valid: readonly CheckedRow[]
  readonly problems: readonly RowProblem[]
}

interface RowRules {
  /** Without it, destinations are not checked. */
  readonly policy?: CallingPolicy | undefined
  /** Numbers without `+` are read in this country's notation; without it, only E.164 is accepted. */
  readonly country?: CountryCode | undefined
  /** A row without an external id is the contact of its number. */
  readonly mayLackIdentity?: boolean
}

/** The rows that have reserved an identity or a number, by that. */
export type SeenPeople = Map<string, number>

/**
 * Checks every row against the API's rules for a batch's recipients, over the whole file: fields, destinations, no
 * repeated person. Of repeated rows the first is accepted. A file that comes in portions has one `seen` for all of them.
 */
export const checkRows = (
  rows: readonly CsvRow[],
  rules: RowRules,
  seen: SeenPeople = new Map(),
): CheckedRows => {
  const valid: CheckedRow[] = []
  const problems: RowProblem[] = []
  for (const row of rows) {
    const checked = checkRow(row, rules)
    const found = 'input' in checked ? repeated(checked, seen) : checked.problems
    if ('input' in checked && found.length === 0) valid.push(checked)
    else problems.push(...found)
  }
  return { valid, problems }
}

const checkRow = (
  { row, cells: written }: CsvRow,
  { policy, country, mayLackIdentity = false }: RowRules,
): CheckedRow | { readonly problems: readonly RowProblem[] } => {
  const cells = country === undefined ? written : withInternationalNumber(written, country)
  const unstorable = Object.entries(cells).filter(([, cell]) => !isStorableText(cell))
  if (unstorable.length > 0) {
    return {
      problems: unstorable.map(([column]) => ({
        row,
        column,
        code: 'invalid_format',
        message: 'It holds a character that cannot be stored.',
      })),
    }
  }
  const result = mayLackIdentity ? readPerson(cells) : contactInput.safeParse(cells)
  if (!result.success) {
    return { problems: result.error.issues.map((issue) => problemOf(row, issue, cells)) }
  }
  const destination = policy && destinationProblem(result.data.phone_number, policy)
  if (destination === undefined) return { row, input: result.data }
  return {
    problems: [
      {
        row,
        column: 'phone_number',
        code: 'unsupported_destination',
        message: describeDestinationProblem(destination),
      },
    ],
  }
}

/** Source of a contact of a file that names none; it counts for nothing until a caller names an identity. */
const sourceOfFiles = 'import'

/** The parts of a name are put together; without an identity the number says who it is. */
export const readPerson = (cells: CsvRow['cells']) => {
  const { first_name: first = '', last_name: last = '', ...fields } = cells
  const name = fields.name ?? `${first} ${last}`.trim()
  return personInput.safeParse({
    ...fields,
    ...(name !== '' && { name }),
    ...(fields.external_id === undefined && { source: fields.source ?? sourceOfFiles }),
  })
}

const withInternationalNumber = (cells: CsvRow['cells'], country: CountryCode): CsvRow['cells'] => {
  const number = cells.phone_number === undefined ? undefined : toE164(cells.phone_number, country)
  return number === undefined ? cells : { ...cells, phone_number: number }
}

const problemOf = (row: number, issue: z.core.$ZodIssue, cells: CsvRow['cells']): RowProblem => {
  const column = String(issue.path[0] ?? '')
  if (cells[column as Column] === undefined) {
    return { row, column, code: 'required', message: 'It is required.' }
  }
  if (issue.code === 'too_big') {
    const message = `It is longer than ${issue.maximum} characters.`
    return { row, column, code: 'too_long', message }
  }
  if (issue.code === 'too_small') {
    return { row, column, code: 'too_short', message: 'It holds nothing but blanks.' }
  }
  return column === 'phone_number'
    ? {
        row,
        column,
        code: 'invalid_e164',
        message: `It must be E.164, such as +12025550100.${countryHint(cells.phone_number)}`,
      }
    : { row, column, code: 'invalid_format', message: sourceRule }
}

/** Digits in a national notation, whose country the file does not name. */
const countryHint = (number = ''): string =>
  /^[0-9(][0-9 ()./-]{4,30}$/.test(number)
    ? ' With `--country CC`, such as US, it is read as a number of that country.'
    : ''

const sourceRule =
  'It must begin with a lower-case letter, followed by lower-case letters, digits, _ or -, 64 in all.'

/** Each identity and each phone only once in the whole file. */
const repeated = ({ row, input }: CheckedRow, seen: SeenPeople): RowProblem[] => {
  const { source, external_id: externalId } = input
  const keys = {
    ...(externalId !== undefined && { external_id: JSON.stringify([source, externalId]) }),
    phone_number: input.phone_number,
  }
  const problems = Object.entries(keys).flatMap(([column, key]) => {
    const earlier = seen.get(key)
    if (earlier === undefined) return []
    return [{ row, column, code: 'duplicate_item', message: `Row ${earlier} has the same.` }]
  })
  // A refused row reserves nothing: later rows may use its identity or number.
  if (problems.length === 0) for (const key of Object.values(keys)) seen.set(key, row)
  return problems
}
