import { getContact as get } from '../../domains/contacts/get-contact.ts'
import { listContacts as list } from '../../domains/contacts/list-contacts.ts'
import { upsertContact as upsert } from '../../domains/contacts/upsert-contact.ts'
import { note, type ConsoleHandler } from '../console-handler.ts'

export const listContacts: ConsoleHandler<'listContacts'> = list
export const getContact: ConsoleHandler<'getContact'> = get

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
