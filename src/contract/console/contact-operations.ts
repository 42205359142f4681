import { contact, contactFilters, contactInput, contactList, contactPath } from '../contacts.ts'
import { op } from '../define-operation.ts'
import {
  contactChange,
  contactDetail,
  contactQuestion,
  doNotCallChange,
  erasureReceipt,
  foundContacts,
} from './contacts.ts'
import { changes, reads } from './least-role.ts'

const unknownId = { errors: ['resource_not_found'] } as const

export const contactOperations = {
  listContacts: op('GET /console/contacts', {
    ...reads('viewer'),
    query: contactFilters,
    response: contactList,
    paged: true,
  }),
  // What is found would tell a viewer names and numbers that are masked.
  findContacts: op('GET /console/contact-search', {
    ...reads('operator'),
    query: contactQuestion,
    response: foundContacts,
  }),
  getContact: op('GET /console/contacts/{contact_id}', {
    ...reads('viewer'),
    ...unknownId,
    params: contactPath,
    response: contactDetail,
  }),
  upsertContact: op('POST /console/contacts', {
    ...changes('operator'),
    body: contactInput,
    response: contact,
    statuses: [200, 201],
    errors: ['contact_identity_conflict'],
  }),
  changeContact: op('PATCH /console/contacts/{contact_id}', {
    ...changes('operator'),
    params: contactPath,
    body: contactChange,
    response: contactDetail,
    errors: ['resource_not_found', 'contact_identity_conflict'],
  }),
  setDoNotCall: op('POST /console/contacts/{contact_id}/do-not-call', {
    ...changes('operator'),
    ...unknownId,
    params: contactPath,
    body: doNotCallChange,
    response: contactDetail,
  }),
  eraseContact: op('POST /console/contacts/{contact_id}/erase', {
    ...changes('admin'),
    params: contactPath,
    response: erasureReceipt,
    errors: ['resource_not_found', 'resource_state_conflict'],
  }),
} as const
