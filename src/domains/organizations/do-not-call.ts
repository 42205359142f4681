import { formatDateTime } from '../../contract/date-time.ts'
import { sql, type Queryable } from '../../database/database.ts'
import { OperatorError } from './operator-error.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** A number on the do-not-call list, as commands print it. */
export interface DoNotCallEntry {
  readonly phone_number: string
  /** `opt_out`: the person asked on a call. `operator`: an operator added it. */
  readonly origin: 'opt_out' | 'operator'
  readonly created_at: string
}

const addStatement = sql(
  'do-not-call.addDoNotCall',
  `insert into dnc_numbers (organization_id, phone_number, origin, call_id)
   values ($1, $2, $3, $4)
   on conflict (organization_id, phone_number) do nothing`,
)

/** Puts a number on the list; repeatable. `callId` is the call on which the person asked. */
export const addDoNotCall = async (
  db: Queryable,
  organizationId: OrganizationId,
  phoneNumber: string,
  callId?: string,
): Promise<void> => {
  const origin = callId === undefined ? 'operator' : 'opt_out'
  await db.run(addStatement, [organizationId, phoneNumber, origin, callId ?? null])
}

const removeStatement = sql(
  'do-not-call.removeDoNotCall',
  `delete from dnc_numbers
    where organization_id = $1
      and phone_number = $2`,
)

/** Whether the number was on the list. */
export const removeDoNotCall = async (
  db: Queryable,
  organizationId: OrganizationId,
  phoneNumber: string,
): Promise<boolean> => (await db.run(removeStatement, [organizationId, phoneNumber])) > 0

const isOnListStatement = sql(
  'do-not-call.isOnDoNotCallList',
  `select 1
     from dnc_numbers
    where organization_id = $1
      and phone_number = $2`,
)

/** Whether the organization must not call the number. */
export const isOnDoNotCallList = async (
  db: Queryable,
  organizationId: OrganizationId,
  phoneNumber: string,
): Promise<boolean> =>
  (await db.row(isOnListStatement, [organizationId, phoneNumber])) !== undefined

const listStatement = sql(
  'do-not-call.listDoNotCall',
  `select phone_number, origin, created_at
     from dnc_numbers
    where organization_id = $1
      and phone_number > $2
      and phone_number >= $4
      and starts_with(phone_number, $4)
    order by phone_number
    limit $3`,
)

const maxPageSize = 1000

/** Up to `limit` numbers after `after` that begin with a text, in ascending order. */
export const listDoNotCall = async (
  db: Queryable,
  organizationId: OrganizationId,
  after = '',
  {
    beginning = '',
    limit = maxPageSize,
  }: { readonly beginning?: string; readonly limit?: number } = {},
): Promise<DoNotCallEntry[]> => {
  const rows = await db.rows<Omit<DoNotCallEntry, 'created_at'> & { created_at: Date }>(
    listStatement,
    [organizationId, after, limit, beginning],
  )
  return rows.map((row) => ({ ...row, created_at: formatDateTime(row.created_at) }))
}

const addManyStatement = sql(
  'do-not-call.addManyDoNotCall',
  `insert into dnc_numbers (organization_id, phone_number, origin)
   select $1, number, 'operator'
     from unnest($2::text[]) as given (number)
    order by number
   on conflict (organization_id, phone_number) do nothing`,
)

/** Puts a file's numbers on the list; what is no number is passed over, and its place in the file returned. */
export const addManyDoNotCall = async (
  db: Queryable,
  organizationId: OrganizationId,
  numbers: readonly string[],
): Promise<{ readonly added: number; readonly known: number; readonly invalid: number[] }> => {
  const invalid = numbers.flatMap((number, at) => (strictE164.test(number) ? [] : [at]))
  const valid = [...new Set(numbers.filter((number) => strictE164.test(number)))]
  const added = valid.length === 0 ? 0 : await db.run(addManyStatement, [organizationId, valid])
  return { added, known: numbers.length - invalid.length - added, invalid }
}

/** What the audit log keeps of a number: enough to tell two apart. */
export const maskedNumber = (phoneNumber: string): string =>
  `${phoneNumber.slice(0, 2)}•••${phoneNumber.slice(-2)}`

const strictE164 = /^\+[1-9][0-9]{7,14}$/

/** Strict E.164 from an operator; throws `OperatorError`. */
export const checkPhoneNumber = (phoneNumber: string): string => {
  if (!strictE164.test(phoneNumber)) {
    throw new OperatorError('A telephone number must be written as E.164, such as +12025550100.')
  }
  return phoneNumber
}
