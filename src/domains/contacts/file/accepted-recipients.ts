import { ApiError } from '../../../contract/api-error.ts'
import type { OrganizationId } from '../../../contract/organization-id.ts'
import type { Transaction } from '../../../database/database.ts'
import { isNumberedCountry, toE164 } from '../../../numbering/national-number.ts'
import type { PersonInput } from '../person-input.ts'
import { readPerson } from './check-rows.ts'
import { fieldsOf, portionsOf } from './check-import.ts'
import { lockImport, type ImportRow } from './import-store.ts'

/** The accepted rows of a portion of the file. */
interface AcceptedPortion {
  readonly inputs: readonly PersonInput[]
  readonly updated: number
}

/**
 * The file as it was checked, locked. Undefined: there is none. Throws where it was not checked for this purpose, has
 * refused rows that may not be left out, or nothing but those.
 */
export const requireChecked = async (
  tx: Transaction,
  organizationId: OrganizationId,
  importId: string,
  purpose: 'contacts' | 'batch',
): Promise<ImportRow | undefined> => {
  const file = await lockImport(tx, organizationId, importId)
  if (!file) return undefined
  if (file.status !== 'checked' || file.purpose !== purpose)
    throw new ApiError('resource_state_conflict', 'The file must be checked first.')
  return file
}

/** The contacts of the rows that were accepted when the file was checked, in portions. */
export async function* acceptedPortions(
  tx: Transaction,
  organizationId: OrganizationId,
  file: ImportRow,
  mayLeaveOut: boolean,
): AsyncGenerator<AcceptedPortion, void, undefined> {
  for await (const rows of portionsOf(tx, organizationId, file.id)) {
    const accepted = rows.filter(({ verdict }) => verdict === 'new' || verdict === 'updated')
    if (accepted.length < rows.length && !mayLeaveOut)
      throw new ApiError('resource_state_conflict', 'The file has rows that are refused.')
    yield {
      inputs: accepted.map((row) => inputOf(fieldsOf(row, file), file.country)),
      updated: accepted.filter(({ verdict }) => verdict === 'updated').length,
    }
  }
}

const inputOf = (fields: Partial<Record<string, string>>, country: string | null): PersonInput => {
  const filled = Object.fromEntries(Object.entries(fields).filter(([, cell]) => cell !== ''))
  const number = filled['phone_number'] ?? ''
  const read = country !== null && isNumberedCountry(country) ? toE164(number, country) : undefined
  const result = readPerson({ ...filled, phone_number: read ?? number })
  if (!result.success) throw new Error('A row that was accepted is no contact.')
  return result.data
}
