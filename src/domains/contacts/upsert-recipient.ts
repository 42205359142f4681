import type { ContactInput } from '../../contract/contacts.ts'
import type { Transaction } from '../../database/database.ts'
import { sqlStateOf } from '../../database/errors.ts'
import { unlimitedStorage, type StorageQuotas } from '../organizations/storage-quotas.ts'
import {
  findNumberHolder,
  upsertContactRow,
  type ContactRow,
  type UpsertOutcome,
} from './contact-store.ts'
import { identityConflict } from './identity-conflict.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

const uniqueViolation = '23505'

/** Each lost race means that another writer committed, so this limit is never reached in practice. */
const maxTries = 10

interface UpsertedContact {
  readonly contact: ContactRow
  readonly isNew: boolean
}

/**
 * The one contact of this identity and number: created, updated or adopted (D4). Throws `contact_identity_conflict`
 * if they belong to two contacts, and `rate_limit_exceeded` for a new one beyond the quota. Contacts of one
 * transaction must be written in one order (by phone number), or two such transactions can deadlock; the database
 * then ends one with a retryable error.
 */
export const upsertRecipient = async (
  tx: Transaction,
  organizationId: OrganizationId,
  input: ContactInput,
  quotas: StorageQuotas = unlimitedStorage,
): Promise<UpsertedContact> => {
  for (let attempt = 1; attempt <= maxTries; attempt += 1) {
    const outcome = await tryUpsert(tx, organizationId, input)
    if (outcome.kind === 'conflict') {
      const holder = await findNumberHolder(tx, organizationId, input.phone_number)
      throw identityConflict({ input, holder })
    }
    if (outcome.kind === 'created') quotas.take(organizationId, 'contacts', 1)
    if (outcome.kind !== 'lost') {
      return { contact: outcome.contact, isNew: outcome.kind === 'created' }
    }
  }
  throw new Error(`A contact was lost to concurrent writers ${maxTries} times.`)
}

/**
 * In every order of concurrent transactions, a violated unique index means that the number or the identity for this
 * contact belongs to another contact by now.
 */
const tryUpsert = async (
  tx: Transaction,
  organizationId: OrganizationId,
  input: ContactInput,
): Promise<UpsertOutcome> => {
  try {
    return await upsertContactRow(tx, organizationId, input)
  } catch (error) {
    if (sqlStateOf(error) === uniqueViolation) throw identityConflict({ input, cause: error })
    throw error
  }
}
