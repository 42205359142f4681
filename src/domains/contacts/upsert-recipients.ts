import { ApiError } from '../../contract/api-error.ts'
import type { PersonInput } from './person-input.ts'
import type { Queryable, Transaction } from '../../database/database.ts'
import { sqlStateOf } from '../../database/errors.ts'
import { unlimitedStorage, type StorageQuotas } from '../organizations/storage-quotas.ts'
import { identityConflict, type NumberHolder } from './identity-conflict.ts'
import {
  findKnownContacts,
  insertContacts,
  lockKnownContacts,
  updateContacts,
  type ContactChange,
  type KnownContact,
} from './contacts-of-recipients.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

const uniqueViolation = '23505'

/** Each lost race means that another writer committed, so this limit is never reached in practice. */
const maxTries = 10

/**
 * The contacts of up to 1,000 recipients without a repeated identity or number: each is created, updated or adopted
 * as by POST /contacts (D4), in three statements for all. Every recipient is judged by the contacts before the
 * batch: a number that one of them gives up is not free for another of the same list. Returns their ids in order.
 * Throws `contact_identity_conflict`; the transaction must then roll back.
 */
export const upsertRecipients = async (
  tx: Transaction,
  organizationId: OrganizationId,
  inputs: readonly PersonInput[],
  quotas: StorageQuotas = unlimitedStorage,
): Promise<string[]> => {
  const ids = new Map<PersonInput, string>()
  for (let attempt = 1; attempt <= maxTries; attempt += 1) {
    const missing = inputs.filter((input) => !ids.has(input))
    for (const [input, id] of await upsertOnce(tx, organizationId, inputs, missing, quotas)) {
      ids.set(input, id)
    }
    if (ids.size === inputs.length) return inputs.map((input) => ids.get(input) ?? '')
  }
  throw new Error(`Contacts were lost to concurrent writers ${maxTries} times.`)
}

/**
 * The result for each recipient, given the present contacts: a new contact, a known one (updated or adopted), or a
 * conflict, because identity and number belong to two different contacts.
 */
export const judgeRecipients = async (
  db: Queryable,
  organizationId: OrganizationId,
  inputs: readonly PersonInput[],
): Promise<('new' | 'known' | { readonly holder: NumberHolder })[]> => {
  const match = matchAgainst(await findKnownContacts(db, organizationId, inputs))
  return inputs.map((input) => {
    const found = match(input)
    if (found === undefined) return 'new'
    return 'holder' in found ? found : 'known'
  })
}

const upsertOnce = async (
  tx: Transaction,
  organizationId: OrganizationId,
  all: readonly PersonInput[],
  missing: readonly PersonInput[],
  quotas: StorageQuotas,
): Promise<(readonly [PersonInput, string])[]> => {
  const match = matchAgainst(await lockKnownContacts(tx, organizationId, missing))
  const changes: ContactChange[] = []
  const additions: PersonInput[] = []
  for (const input of missing) {
    const contact = match(input)
    if (contact !== undefined && 'holder' in contact) {
      const asked = { source: input.source, external_id: input.external_id ?? null }
      throw identityConflict({ input: asked, holder: contact.holder, index: all.indexOf(input) })
    }
    if (contact === undefined) additions.push(input)
    else changes.push({ id: contact.id, input })
  }
  if (additions.length > 0) quotas.take(organizationId, 'contacts', additions.length)
  if (changes.length > 0) await tryUpdate(tx, organizationId, changes)
  const added =
    additions.length > 0 ? await insertContacts(tx, organizationId, additions) : new Map()
  return [...changes.map(({ id, input }) => [input, id] as const), ...added]
}

/**
 * D4 as a decision: the contact to update or adopt, none, or a conflict. A recipient without an identity is the
 * contact of its number.
 */
const matchAgainst = (
  known: readonly KnownContact[],
): ((input: PersonInput) => KnownContact | { readonly holder: KnownContact } | undefined) => {
  const byIdentity = new Map(
    known.map((each) => [identityKey(each.source, each.external_id), each]),
  )
  const byNumber = new Map(known.map((each) => [each.phone_number, each]))
  return ({ source, external_id: externalId, phone_number: phoneNumber }) => {
    const holder = byNumber.get(phoneNumber)
    if (externalId === undefined) return holder
    const same = byIdentity.get(identityKey(source, externalId))
    if (same) return holder === undefined || holder === same ? same : { holder }
    return holder === undefined || holder.external_id === null ? holder : { holder }
  }
}

const identityKey = (source: string, externalId: string | null): string =>
  JSON.stringify([source, externalId])

/** A violated unique index means that the number belongs to another contact by now. */
const tryUpdate = async (
  tx: Transaction,
  organizationId: OrganizationId,
  changes: readonly ContactChange[],
): Promise<void> => {
  try {
    await updateContacts(tx, organizationId, changes)
  } catch (error) {
    if (sqlStateOf(error) === uniqueViolation) throw lostRace(error)
    throw error
  }
}

/** The violated index does not show which of them it was. */
const lostRace = (cause: unknown): ApiError =>
  new ApiError(
    'contact_identity_conflict',
    'The phone number of a recipient has just been given to another contact.',
    undefined,
    { cause },
  )
