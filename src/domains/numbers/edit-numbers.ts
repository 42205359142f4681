import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Queryable, Transaction } from '../../database/database.ts'
import { findPlannedNumber } from '../../numbering/numbering-plan.ts'
import { checkPhoneNumber } from '../organizations/do-not-call.ts'
import { checkFile, InvalidFileError } from '../organizations/invalid-file.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import { numberSettings, type NumberInput, type NumberSettings } from './number-settings.ts'
import {
  agentsWithNumber,
  countNumbers,
  deleteNumberRow,
  listNumberRows,
  lockNumberRow,
  restNumberRow,
  resumeNumberRow,
  trunkServes,
  writeNumber,
  type NumberRow,
} from './number-store.ts'
import { numberOfRow, type ShownNumber } from './number-resource.ts'
import { wakeCallsForNumbers } from './wake-numbers.ts'

/** All of them are weighed for each call. */
const maxNumbers = 500
/** Longer than that a number is removed, or rests until it is resumed. */
const maxRestMs = 366 * 86_400_000

/** Throws `InvalidFileError` or `OperatorError`, as the others. */
export const addNumber = async (
  tx: Transaction,
  organizationId: OrganizationId,
  phoneNumber: string,
  input: NumberInput,
): Promise<ShownNumber> => {
  const settings = checkFile(numberSettings, input)
  const country = countryOf(checkPhoneNumber(phoneNumber))
  await checkTrunk(tx, organizationId, settings)
  if ((await lockNumberRow(tx, organizationId, phoneNumber)) !== undefined)
    throw new OperatorError(
      `The organization has ${phoneNumber} already: change it with number set.`,
    )
  if ((await countNumbers(tx, organizationId)) >= maxNumbers)
    throw new OperatorError(
      `The organization has ${maxNumbers} numbers, which is the limit: remove one.`,
    )
  await writeNumber(tx, organizationId, { ...settings, phone_number: phoneNumber, country })
  return changed(tx, organizationId, phoneNumber)
}

/** Members that are given replace; calls that are dialled keep what they show. */
export const changeNumber = async (
  tx: Transaction,
  organizationId: OrganizationId,
  phoneNumber: string,
  change: NumberInput,
): Promise<ShownNumber> => {
  const { trunk, calls_per_day, rest_when_flagged, country } = await known(
    tx,
    organizationId,
    phoneNumber,
  )
  const before = { trunk, calls_per_day, rest_when_flagged }
  const given = Object.entries(change).filter(([, value]) => value !== undefined)
  const settings = checkFile(numberSettings, { ...before, ...Object.fromEntries(given) })
  if (settings.trunk !== trunk) await checkTrunk(tx, organizationId, settings)
  await writeNumber(tx, organizationId, { ...settings, phone_number: phoneNumber, country })
  return changed(tx, organizationId, phoneNumber)
}

/** Refused while a published agent calls from it. Returns what it was. */
export const removeNumber = async (
  tx: Transaction,
  organizationId: OrganizationId,
  phoneNumber: string,
): Promise<ShownNumber> => {
  const row = await known(tx, organizationId, phoneNumber)
  const agents = await agentsWithNumber(tx, organizationId, phoneNumber)
  if (agents.length > 0)
    throw new OperatorError(
      `${phoneNumber} stands in caller_ids of the agent ${agents.join(', ')}: publish it without the number first, or let the number rest.`,
    )
  await deleteNumberRow(tx, organizationId, phoneNumber)
  await wakeCallsForNumbers(tx, organizationId)
  return numberOfRow(row)
}

/** Without `until` until it is resumed. */
export const restNumber = async (
  tx: Transaction,
  organizationId: OrganizationId,
  phoneNumber: string,
  { until, reason = 'An administrator let it rest.' }: RestInput,
): Promise<ShownNumber> => {
  await known(tx, organizationId, phoneNumber)
  if (until !== undefined && !(until.getTime() > Date.now()))
    throw new OperatorError('A number rests until a time to come: choose a later one.')
  if (until !== undefined && until.getTime() > Date.now() + maxRestMs)
    throw new OperatorError(
      'A number rests for a year at most: leave the time out, and it rests until it is resumed.',
    )
  await restNumberRow(tx, organizationId, phoneNumber, { reason, until })
  return changed(tx, organizationId, phoneNumber)
}

interface RestInput {
  readonly until?: Date | undefined
  /** One sentence. */
  readonly reason?: string | undefined
}

export const resumeNumber = async (
  tx: Transaction,
  organizationId: OrganizationId,
  phoneNumber: string,
): Promise<ShownNumber> => {
  await known(tx, organizationId, phoneNumber)
  await resumeNumberRow(tx, organizationId, phoneNumber)
  return changed(tx, organizationId, phoneNumber)
}

export const listNumbers = async (
  db: Queryable,
  organizationId: OrganizationId,
): Promise<readonly ShownNumber[]> => (await listNumberRows(db, organizationId)).map(numberOfRow)

export const showNumber = async (
  db: Queryable,
  organizationId: OrganizationId,
  phoneNumber: string,
): Promise<ShownNumber> => numberOfRow(await known(db, organizationId, phoneNumber))

/** Calls that waited for a number are judged anew. */
const changed = async (
  tx: Transaction,
  organizationId: OrganizationId,
  phoneNumber: string,
): Promise<ShownNumber> => {
  await wakeCallsForNumbers(tx, organizationId)
  return showNumber(tx, organizationId, phoneNumber)
}

const known = async (
  db: Queryable,
  organizationId: OrganizationId,
  phoneNumber: string,
): Promise<NumberRow> => {
  const row = await lockNumberRow(db, organizationId, checkPhoneNumber(phoneNumber))
  if (row === undefined)
    throw new OperatorError(
      `The organization has no number ${phoneNumber}: number list shows its own.`,
    )
  return row
}

const countryOf = (phoneNumber: string): string | null => {
  const planned = findPlannedNumber(phoneNumber)
  if (planned === undefined || !planned.isPossible)
    throw new InvalidFileError([
      {
        path: 'phone_number',
        message: `${phoneNumber} is no number of any country’s plan: check its digits.`,
      },
    ])
  return planned.country ?? null
}

const checkTrunk = async (
  db: Queryable,
  organizationId: OrganizationId,
  { trunk }: NumberSettings,
): Promise<void> => {
  if (trunk === null) return
  const serves = await trunkServes(db, trunk, organizationId)
  if (serves !== true)
    throw new InvalidFileError([
      {
        path: 'trunk',
        message:
          serves === undefined
            ? `There is no trunk ${trunk}: trunk list shows them.`
            : `The trunk ${trunk} does not serve this organization: choose another, or leave it out.`,
      },
    ])
}
