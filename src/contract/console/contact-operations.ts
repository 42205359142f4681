import { contact, contactFilters, contactInput, contactList, contactPath } from '../contacts.ts'
import { op } from '../define-operation.ts'
import { changes, reads } from './least-role.ts'

const unknownId = { errors: ['resource_not_found'] } as const

export const contactOperations = {
  listContacts: op('GET /console/contacts', {
    ...reads('viewer'),
    query: contactFilters,
    response: contactList,
    paged: true,
  }),
  getContact: op('GET /console/contacts/{contact_id}', {
    ...reads('viewer'),
    ...unknownId,
    params: contactPath,
    response: contact,
  }),
  upsertContact: op('POST /console/contacts', {
    ...changes('operator'),
    body: contactInput,
    response: contact,
    statuses: [200, 201],
    errors: ['contact_identity_conflict'],
  }),
} as const
