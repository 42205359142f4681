import { notFound } from '../../contract/api-error.ts'
import { maxFoundContacts } from '../../contract/console/contacts.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import { showContact } from '../../domains/contacts/show-contact.ts'
import { contactResource } from '../../domains/contacts/contact-resource.ts'
import { findContacts as find } from '../../domains/contacts/find-contacts.ts'
import { findContact } from '../../domains/contacts/contact-store.ts'
import { editContact } from '../../domains/contacts/edit-contact.ts'
import { listContacts as list } from '../../domains/contacts/list-contacts.ts'
import { upsertContact as upsert } from '../../domains/contacts/upsert-contact.ts'
import {
  addDoNotCall,
  isOnDoNotCallList,
  removeDoNotCall,
} from '../../domains/organizations/do-not-call.ts'
import { eraseContact as erase } from '../../domains/retention/erase-contact.ts'
import { isUuid } from '../../runtime/ids.ts'
import { asTold, note, sessionOf, type ConsoleHandler } from '../console-handler.ts'

export const listContacts: ConsoleHandler<'listContacts'> = list

export const findContacts: ConsoleHandler<'findContacts'> = async (
  { query },
  { db, organizationId },
) => {
  const rows = await find(db, organizationId, query.q, maxFoundContacts + 1)
  return {
    data: rows.slice(0, maxFoundContacts).map(contactResource),
    truncated: rows.length > maxFoundContacts,
  }
}

export const getContact: ConsoleHandler<'getContact'> = async (
  { params },
  { db, organizationId },
) => {
  const row = await findContact(db, organizationId, params.contact_id)
  if (!row) throw notFound()
  return showContact(db, organizationId, row)
}

/** The audit log names the contact and which members were given: it outlives the person's erasure. */
export const upsertContact: ConsoleHandler<'upsertContact'> = async (input, context) => {
  const answer = await upsert(input, context)
  await note(context.db, context, {
    action: answer.status === 201 ? 'contact.create' : 'contact.update',
    target: { type: 'contact', id: answer.body.id },
    after: { members: Object.keys(input.body) },
  })
  return answer
}

export const changeContact: ConsoleHandler<'changeContact'> = async ({ params, body }, context) => {
  const { db, organizationId } = context
  const row = await editContact(db, organizationId, params.contact_id, body)
  if (!row) throw notFound()
  await note(db, context, {
    action: 'contact.update',
    target: { type: 'contact', id: row.id },
    after: { members: Object.keys(body) },
  })
  return showContact(db, organizationId, row)
}

/** Puts the contact's number on the do-not-call list, or takes it off. */
export const setDoNotCall: ConsoleHandler<'setDoNotCall'> = async ({ params, body }, context) => {
  const { db, organizationId } = context
  const row = await findContact(db, organizationId, params.contact_id)
  if (!row) throw notFound()
  const { phone_number: number } = row
  const wasBlocked = await isOnDoNotCallList(db, organizationId, number)
  if (body.is_blocked) await addDoNotCall(db, organizationId, number)
  else await removeDoNotCall(db, organizationId, number)
  await note(db, context, {
    action: body.is_blocked ? 'do_not_call.add' : 'do_not_call.remove',
    target: { type: 'contact', id: row.id },
    before: { is_blocked: wasBlocked },
    after: { is_blocked: body.is_blocked },
  })
  return showContact(db, organizationId, row)
}

/** The bytes of recordings are deleted by the worker's housekeeping; no list shows them from now on. */
export const eraseContact: ConsoleHandler<'eraseContact'> = async ({ params }, context) => {
  const { db, organizationId, parts } = context
  const { contact_id: id } = params
  if (!isUuid(id) || !(await findContact(db, organizationId, id))) throw notFound()
  const erasure = await asTold(erase(db, organizationId, id))
  await note(db, context, {
    action: 'contact.erase',
    target: { type: 'contact', id },
    after: { calls: erasure.calls, recordings: erasure.recordings },
  })
  return {
    ...erasure,
    erased_at: formatDateTime(parts.clock.now()),
    erased_by: sessionOf(context).email,
  }
}
