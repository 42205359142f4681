import type { OrganizationId } from '../../contract/organization-id.ts'
import {
  addNumber as add,
  changeNumber as change,
  listNumbers as list,
  removeNumber as remove,
  restNumber as rest,
  resumeNumber as resume,
  showNumber,
} from '../../domains/numbers/edit-numbers.ts'
import { noteNumberChange } from '../../domains/numbers/note-number-change.ts'
import type { ShownNumber } from '../../domains/numbers/number-resource.ts'
import type { Transaction } from '../../database/database.ts'
import { actorOf, asTold, type ConsoleHandler } from '../console-handler.ts'

export const listNumbers: ConsoleHandler<'listNumbers'> = async (
  _input,
  { db, organizationId },
) => ({ data: [...(await list(db, organizationId))] })

export const addNumber: ConsoleHandler<'addNumber'> = async ({ body }, context) => {
  const { db, organizationId } = context
  const { phone_number: phoneNumber, ...settings } = body
  const after = await asTold(add(db, organizationId, phoneNumber, given(settings)))
  await noteNumberChange(db, actorOf(context), organizationId, 'add', { after })
  return after
}

export const changeNumber: ConsoleHandler<'changeNumber'> = ({ body }, context) => {
  const { phone_number: phoneNumber, ...settings } = body
  return edit(context, 'change', phoneNumber, (tx, organizationId) =>
    change(tx, organizationId, phoneNumber, given(settings)),
  )
}

export const restNumber: ConsoleHandler<'restNumber'> = ({ body }, context) =>
  edit(context, 'rest', body.phone_number, (tx, organizationId) =>
    rest(tx, organizationId, body.phone_number, {
      until: body.until === undefined ? undefined : new Date(body.until),
      reason: body.reason,
    }),
  )

export const resumeNumber: ConsoleHandler<'resumeNumber'> = ({ body }, context) =>
  edit(context, 'resume', body.phone_number, (tx, organizationId) =>
    resume(tx, organizationId, body.phone_number),
  )

export const removeNumber: ConsoleHandler<'removeNumber'> = async ({ body }, context) => {
  const { db, organizationId } = context
  const before = await asTold(remove(db, organizationId, body.phone_number))
  await noteNumberChange(db, actorOf(context), organizationId, 'remove', { before })
  return before
}

type EditContext = Parameters<typeof actorOf>[0] & {
  readonly db: Transaction
  readonly organizationId: OrganizationId
}

const edit = async (
  context: EditContext,
  action: 'change' | 'rest' | 'resume',
  phoneNumber: string,
  work: (tx: Transaction, organizationId: OrganizationId) => Promise<ShownNumber>,
): Promise<ShownNumber> => {
  const { db, organizationId } = context
  const before = await asTold(showNumber(db, organizationId, phoneNumber))
  const after = await asTold(work(db, organizationId))
  await noteNumberChange(db, actorOf(context), organizationId, action, { before, after })
  return after
}

/** Members without a value are not given. */
const given = <T extends object>(
  settings: T,
): { [Name in keyof T]?: Exclude<T[Name], undefined> } =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: Exclude<T[Name], undefined>
  }
