import { notFound } from '../../contract/api-error.ts'
import {
  addDoNotCall as add,
  addManyDoNotCall,
  listDoNotCall as list,
  maskedNumber,
  removeDoNotCall as remove,
} from '../../domains/organizations/do-not-call.ts'
import { note, type ConsoleHandler } from '../console-handler.ts'

const shownAtOnce = 100

export const listDoNotCall: ConsoleHandler<'listDoNotCall'> = async (
  { query: { digits = '', after } },
  { db, organizationId },
) => {
  const found = await list(db, organizationId, after, {
    beginning: digits.startsWith('+') ? digits : `+${digits}`,
    limit: shownAtOnce + 1,
  })
  const data = found.slice(0, shownAtOnce)
  const next = found.length > shownAtOnce ? data.at(-1)?.phone_number : undefined
  return { data, next_after: next ?? null }
}

const target = { type: 'do_not_call', id: null } as const

/** The audit log outlives the list, so that it keeps no whole number. */
export const addDoNotCall: ConsoleHandler<'addDoNotCall'> = async ({ body }, context) => {
  const { db, organizationId } = context
  await add(db, organizationId, body.phone_number)
  const after = { phone_number: maskedNumber(body.phone_number) }
  await note(db, context, { action: 'do_not_call.add', target, after })
  return body
}

export const removeDoNotCall: ConsoleHandler<'removeDoNotCall'> = async ({ body }, context) => {
  const { db, organizationId } = context
  if (!(await remove(db, organizationId, body.phone_number))) throw notFound()
  const before = { phone_number: maskedNumber(body.phone_number) }
  await note(db, context, { action: 'do_not_call.remove', target, before })
  return body
}

export const importDoNotCall: ConsoleHandler<'importDoNotCall'> = async ({ body }, context) => {
  const { db, organizationId } = context
  const done = await addManyDoNotCall(db, organizationId, body.phone_numbers)
  const after = { added: done.added }
  await note(db, context, { action: 'do_not_call.import', target, after })
  return done
}
