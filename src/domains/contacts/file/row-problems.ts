import { OperatorError } from '../../organizations/operator-error.ts'
import { describeIdentity, type NumberHolder } from '../identity-conflict.ts'

/** One error in a file. It never contains a cell's content, which may be personal data. */
export interface RowProblem {
  /** Counted as in a spreadsheet: the heading is row 1. */
  readonly row: number
  /** The contact's field; empty for the whole row. */
  readonly column: string
  /** The API's code (D9). */
  readonly code: string
  /** A sentence. */
  readonly message: string
}

/** No operator reads more. */
const maxShown = 100

/** `row 7, phone_number: It must be … (invalid_e164)`, one line each, in the order of the file. */
export const describeProblems = (problems: readonly RowProblem[]): string[] => {
  const inOrder = problems.toSorted((a, b) => a.row - b.row)
  const lines = inOrder.slice(0, maxShown).map(describe)
  const hidden = inOrder.length - lines.length
  return [...lines, ...(hidden > 0 ? [`… and ${hidden} more.`] : [])]
}

const describe = ({ row, column, code, message }: RowProblem): string =>
  `row ${row}${column === '' ? '' : `, ${column}`}: ${message} (${code})`

/** Nothing was created. */
export const refusedFile = (problems: readonly RowProblem[]): OperatorError =>
  new OperatorError(describeProblems(problems))

/** Identity and number of the row belong to two different contacts. */
export const conflictAt = (row: number, holder: NumberHolder): RowProblem => ({
  row,
  column: 'phone_number',
  code: 'contact_identity_conflict',
  message: `The number belongs to the contact with ${describeIdentity(holder)}.`,
})
