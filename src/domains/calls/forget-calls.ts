import { sql, type Transaction } from '../../database/database.ts'
import { liveStates, statusIn } from './lifecycle/call-states.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

const textsStatement = sql(
  'forget-calls.forgetCallTexts',
  `update calls
      set summary = null,
          -- Of a call that nobody answered it is what the carrier said.
          outcome_reason = case when connected_at is null then outcome_reason end,
          updated_at = now()
    where organization_id = $1
      and id = any ($2::uuid[])
      and ended_at is not null`,
)

/** Deletes what was derived from the conversation; the fact of the call and its outcome stay. */
export const forgetCallTexts = async (
  tx: Transaction,
  organizationId: OrganizationId,
  callIds: readonly string[],
): Promise<void> => {
  await tx.run(textsStatement, [organizationId, callIds])
}

const wakeStatement = sql('forget-calls.wakeOrganization', 'select wake_organization($1)')

const openStatement = sql(
  'forget-calls.lockOpenCalls',
  `select id, ${statusIn(liveStates)} as is_live
     from calls
    where organization_id = $1
      and contact_id = $2
      and ended_at is null
    order by id
      for update`,
)

interface OpenCall {
  readonly id: string
  readonly is_live: boolean
}

/**
 * Calls with the contact that have not ended; none of them begins to ring before the transaction ends. Wakes the
 * organization first, because erasing their number releases other calls to it.
 */
export const lockOpenCalls = async (
  tx: Transaction,
  organizationId: OrganizationId,
  contactId: string,
): Promise<OpenCall[]> => {
  const [, calls] = await Promise.all([
    tx.run(wakeStatement, [organizationId]),
    tx.rows<OpenCall>(openStatement, [organizationId, contactId]),
  ])
  return calls
}

const idsStatement = sql(
  'forget-calls.callIdsOfContact',
  `select id
     from calls
    where organization_id = $1
      and contact_id = $2
    order by id`,
)

export const callIdsOfContact = async (
  tx: Transaction,
  organizationId: OrganizationId,
  contactId: string,
): Promise<string[]> =>
  (await tx.rows<{ id: string }>(idsStatement, [organizationId, contactId])).map(({ id }) => id)

const numberStatement = sql(
  'forget-calls.forgetPhoneNumber',
  `update calls
      set phone_number = '',
          -- One that waited for its number waits for nothing now: the gate ends it.
          not_before   = case when wait_reason = 'number_in_use' then now() else not_before end,
          wait_reason  = nullif(wait_reason, 'number_in_use'),
          updated_at   = now()
    where organization_id = $1
      and contact_id = $2
      and phone_number <> ''`,
)

/** The numbers of the contact's calls. The gate refuses a call whose contact is gone. */
export const forgetPhoneNumber = async (
  tx: Transaction,
  organizationId: OrganizationId,
  contactId: string,
): Promise<void> => {
  await tx.run(numberStatement, [organizationId, contactId])
}
