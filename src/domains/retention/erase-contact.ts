import type { Queryable, Transaction } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { isUuid } from '../../runtime/ids.ts'
import {
  callIdsOfContact,
  forgetCallTexts,
  forgetPhoneNumber,
  lockOpenCalls,
} from '../calls/forget-calls.ts'
import { forgetCaller } from '../calls-back/calls-back-store.ts'
import { deleteContact, findContact, findContactByNumber } from '../contacts/contact-store.ts'
import { forgetSipTraces } from '../calls/sip-trace-store.ts'
import { forgetImportedNumber } from '../contacts/file/import-store.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import { deleteRecordings } from '../recordings/deleted-recordings.ts'
import { forgetRequests } from '../requests/request-store.ts'
import { forgetResults } from '../results/forget-results.ts'

/** What an erasure deleted, as commands print it. */
export interface Erasure {
  readonly contact_id: string
  /** Calls that stay as facts: when, with which agent, how they ended. */
  readonly calls: number
  readonly recordings: number
}

/**
 * Erases a person in one transaction: contact, recordings, transcripts, summaries, the number on their calls.
 * Queued calls to them are no longer dialled. The do-not-call list stays, because erasure must not allow new calls.
 * Repeatable by id. Throws `OperatorError` while a call with them is live, and for an unknown person.
 */
export const eraseContact = async (
  tx: Transaction,
  organizationId: OrganizationId,
  contact: string,
): Promise<Erasure> => {
  const contactId = await resolveContact(tx, organizationId, contact)
  const known = await findContact(tx, organizationId, contactId)
  if (known) await forgetImportedNumber(tx, organizationId, known.phone_number)
  if (known) await forgetCaller(tx, organizationId, known.phone_number)
  const wasThere = await deleteContact(tx, organizationId, contactId)
  const open = await lockOpenCalls(tx, organizationId, contactId)
  if (open.some((call) => call.is_live))
    throw new OperatorError(
      'A call with this contact is live: end it, or wait until it has ended, and erase again.',
    )
  const callIds = await callIdsOfContact(tx, organizationId, contactId)
  if (!wasThere && callIds.length === 0) throw unknownContact(contact)
  await forgetResults(tx, organizationId, callIds)
  await forgetCallTexts(tx, organizationId, callIds)
  await forgetSipTraces(tx, organizationId, callIds)
  await forgetPhoneNumber(tx, organizationId, contactId)
  await forgetRequests(tx, organizationId, [contactId, ...callIds])
  const recordings = await deleteRecordings(tx, organizationId, callIds)
  return { contact_id: contactId, calls: callIds.length, recordings }
}

const resolveContact = async (
  db: Queryable,
  organizationId: OrganizationId,
  contact: string,
): Promise<string> => {
  if (isUuid(contact)) return contact
  const found = contact.startsWith('+')
    ? await findContactByNumber(db, organizationId, contact)
    : undefined
  if (!found) throw unknownContact(contact)
  return found.id
}

const unknownContact = (contact: string): OperatorError =>
  new OperatorError(`This organization has no contact ${contact}. Name it by id or E.164 number.`)
