import type { CountryCode } from 'libphonenumber-js/max'
import type { Command } from 'commander'
import type { PersonInput } from '../../domains/contacts/person-input.ts'
import type { Queryable } from '../../database/database.ts'
import { judgeRecipients } from '../../domains/contacts/upsert-recipients.ts'
import type { CallingPolicy } from '../../domains/organizations/calling-policy.ts'
import { isNumberedCountry } from '../../numbering/national-number.ts'
import { OperatorError } from '../../domains/organizations/operator-error.ts'
import { checkRows } from '../../domains/contacts/file/check-rows.ts'
import { readCsv } from '../../domains/contacts/file/contact-csv.ts'
import {
  conflictAt,
  describeProblems,
  refusedFile,
  type RowProblem,
} from '../../domains/contacts/file/row-problems.ts'
import { UsageError, type CliContext } from '../cli-context.ts'
import { show, warn, type OutputOptions } from '../terminal/output.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { plural } from '../../runtime/plural.ts'

/** The whole file is checked before anything is created, so this bounds that transaction too. */
const maxRows = 100_000

/** The options for a file of contacts. */
export interface ContactFileOptions extends OutputOptions {
  readonly check?: true
  readonly skipInvalid?: true
  readonly country?: CountryCode
}

export const withContactFileOptions = (command: Command): Command =>
  command
    .option('--check', 'say what would become of each row, and do nothing')
    .option('--skip-invalid', 'leave out rows that are refused, and take the others')
    .option(
      '--country <code>',
      'read numbers without + as those of this country, such as US',
      countryOption,
    )
    .option('--json', 'print JSON')

const countryOption = (text: string): CountryCode => {
  const country = text.toUpperCase()
  if (!isNumberedCountry(country))
    throw new UsageError(`--country must be a code of ISO 3166 such as US, not ${text}.`)
  return country
}

/** A file of contacts, compared with the organization's contacts. */
interface ContactFile {
  /** Rows below the heading. */
  readonly rows: number
  /** Number of valid rows. */
  readonly inputs: readonly PersonInput[]
  /** How many of them are known contacts. */
  readonly known: number
  readonly problems: readonly RowProblem[]
}

/** With a policy, each number must also be allowed by it. Throws for an unreadable file. */
export const readContactFile = async (
  db: Queryable,
  organizationId: OrganizationId,
  text: string,
  options: { readonly country?: CountryCode | undefined; readonly policy?: CallingPolicy },
): Promise<ContactFile> => {
  const file = readCsv(text)
  if ('fault' in file) throw refusedFile(file.fault)
  if (file.rows.length > maxRows) {
    throw new OperatorError(`The file has more than ${maxRows} rows: split it.`)
  }
  const checked = checkRows(file.rows, options)
  const verdicts = await judgeRecipients(
    db,
    organizationId,
    checked.valid.map(({ input }) => input),
  )
  const conflicts = checked.valid.flatMap(({ row }, index) => {
    const verdict = verdicts[index]
    return typeof verdict === 'object' ? [conflictAt(row, verdict.holder)] : []
  })
  return {
    rows: file.rows.length + new Set(file.problems.map(({ row }) => row)).size,
    inputs: checked.valid
      .filter((_, index) => typeof verdicts[index] === 'string')
      .map(({ input }) => input),
    known: verdicts.filter((verdict) => verdict === 'known').length,
    problems: [...file.problems, ...checked.problems, ...conflicts],
  }
}

/** The valid rows. Throws with all problems, unless refused rows may be skipped; then it reports them. */
export const acceptedInputs = (
  context: CliContext,
  { inputs, problems }: ContactFile,
  { skipInvalid }: ContactFileOptions,
): readonly PersonInput[] => {
  if (problems.length > 0 && !skipInvalid) throw refusedFile(problems)
  if (problems.length > 0) warn(context, ['Rows left out:', ...describeProblems(problems)])
  if (inputs.length === 0) throw new OperatorError('The file has no row that can be taken.')
  return inputs
}

/** The output of `--check`. Throws if a row is refused, so that a script gets a failure status. */
export const showCheck = (
  context: CliContext,
  options: ContactFileOptions,
  { rows, inputs, known, problems }: ContactFile,
): void => {
  const isDuplicate = ({ code }: RowProblem): boolean => code === 'duplicate_item'
  const rowsOf = (some: readonly RowProblem[]): Set<number> => new Set(some.map(({ row }) => row))
  const duplicate = rowsOf(problems.filter(isDuplicate))
  const invalid = rowsOf(problems.filter((each) => !isDuplicate(each) && !duplicate.has(each.row)))
  const counts = {
    rows,
    ready: inputs.length,
    new: inputs.length - known,
    updated: known,
    duplicate: duplicate.size,
    invalid: invalid.size,
  }
  show(context, options, { ...counts, problems }, () => [
    `${plural(rows, 'row')}: ${counts.ready} ready (${counts.new} new, ${known} updated), ${counts.duplicate} duplicate, ${counts.invalid} invalid. Nothing was changed.`,
  ])
  if (problems.length > 0) throw refusedFile(problems)
}
