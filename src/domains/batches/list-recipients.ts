import { formatDateTime } from '../../contract/date-time.ts'
import { sql, type Queryable } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** One person of a batch, with the result of the call. Unset members are omitted. */
export interface Recipient {
  readonly call_id: string
  readonly contact_id: string
  readonly external_id?: string
  readonly name?: string
  readonly phone_number?: string
  /** `pending` while the batch is not queued, else the call's status. */
  readonly status: string
  readonly answer_status?: string
  readonly outcome?: string
  /** Why the call ended this way, or why it waits. */
  readonly reason?: string
  readonly duration_seconds?: number
  readonly dialing_at?: string
  readonly ended_at?: string
}

interface RecipientRow {
  readonly call_id: string
  readonly contact_id: string
  readonly external_id: string | null
  readonly name: string | null
  readonly phone_number: string | null
  readonly status: string
  readonly answer_status: string | null
  readonly outcome: string | null
  readonly reason: string | null
  readonly duration_seconds: number | null
  readonly dialing_at: Date | null
  readonly ended_at: Date | null
}

// At most 1,000 rows (D5), in the order of the request. The call of an erased contact stays.
const listStatement = sql(
  'list-recipients.listRecipients',
  `select c.id as call_id, c.contact_id, p.external_id, p.name, p.phone_number,
          c.status, c.answer_status, c.outcome, coalesce(c.outcome_reason, c.wait_reason) as reason,
          c.duration_seconds, c.dialing_at, c.ended_at
     from calls c
     left join lateral (
       select external_id, name, phone_number
         from contacts
        where organization_id = c.organization_id
          and id = c.contact_id
        limit 1
     ) p on true
    where c.organization_id = $1
      and c.batch_id = $2
    order by c.id`,
)

/** Every recipient of a batch. */
export const listRecipients = async (
  db: Queryable,
  organizationId: OrganizationId,
  batchId: string,
): Promise<Recipient[]> =>
  (await db.rows<RecipientRow>(listStatement, [organizationId, batchId])).map(recipientOf)

const recipientOf = (row: RecipientRow): Recipient => ({
  call_id: row.call_id,
  contact_id: row.contact_id,
  ...(row.external_id !== null && { external_id: row.external_id }),
  ...(row.name !== null && { name: row.name }),
  ...(row.phone_number !== null && { phone_number: row.phone_number }),
  status: row.status,
  ...(row.answer_status !== null && { answer_status: row.answer_status }),
  ...(row.outcome !== null && { outcome: row.outcome }),
  ...(row.reason !== null && { reason: row.reason }),
  ...(row.duration_seconds !== null && { duration_seconds: row.duration_seconds }),
  ...(row.dialing_at && { dialing_at: formatDateTime(row.dialing_at) }),
  ...(row.ended_at && { ended_at: formatDateTime(row.ended_at) }),
})
