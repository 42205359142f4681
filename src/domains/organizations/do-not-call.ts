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
    order by phone_number
    limit $3`,
)

const maxPageSize = 1000

/** Up to 1,000 numbers after `after`, in ascending order. */
export const listDoNotCall = async (
  db: Queryable,
  organizationId: OrganizationId,
  after = '',
): Promise<DoNotCallEntry[]> => {
  const rows = await db.rows<Omit<DoNotCallEntry, 'created_at'> & { created_at: Date }>(
    listStatement,
    [organizationId, after, maxPageSize],
  )
  return rows.map((row) => ({ ...row, created_at: formatDateTime(row.created_at) }))
}

/** Strict E.164 from an operator; throws `OperatorError`. */
export const checkPhoneNumber = (phoneNumber: string): string => {
  if (!/^\+[1-9][0-9]{7,14}$/.test(phoneNumber)) {
    throw new OperatorError('A telephone number must be written as E.164, such as +12025550100.')
  }
  return phoneNumber
}
