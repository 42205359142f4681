import { sql, type Queryable } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** A SIP message of a call, masked. */
export interface SipTraceMessage {
  /** RFC 3339, UTC. */
  readonly at: string
  readonly direction: 'sent' | 'received'
  readonly protocol: 'udp' | 'tcp' | 'tls'
  /** Host and port: ours, and the other side's. */
  readonly local: string
  readonly remote: string
  readonly text: string
}

/** The messages of one attempt; `omitted` ones between the first and the last were not kept. */
export interface SipTrace {
  readonly first: readonly SipTraceMessage[]
  readonly last: readonly SipTraceMessage[]
  readonly omitted: number
}

export interface StoredSipTrace extends SipTrace {
  readonly attempt: number
}

/** How long they are kept. */
const keptDays = 30

const saveStatement = sql(
  'sip-trace-store.saveSipTrace',
  `insert into sip_traces (organization_id, call_id, attempt, first_messages, last_messages, omitted)
   values ($1, $2, $3, $4, $5, $6)
   on conflict (organization_id, call_id, attempt) do update
      set first_messages = excluded.first_messages,
          last_messages  = excluded.last_messages,
          omitted        = excluded.omitted`,
)

/** Replaces what was stored of this attempt. */
export const saveSipTrace = async (
  db: Queryable,
  call: {
    readonly organizationId: OrganizationId
    readonly callId: string
    readonly attempt: number
  },
  { first, last, omitted }: SipTrace,
): Promise<void> => {
  await db.run(saveStatement, [
    call.organizationId,
    call.callId,
    call.attempt,
    JSON.stringify(first),
    JSON.stringify(last),
    omitted,
  ])
}

const listStatement = sql(
  'sip-trace-store.listSipTraces',
  `select attempt, first_messages as first, last_messages as last, omitted
     from sip_traces
    where organization_id = $1
      and call_id = $2
    order by attempt`,
)

/** Of every attempt, oldest first. */
export const listSipTraces = (
  db: Queryable,
  organizationId: OrganizationId,
  callId: string,
): Promise<StoredSipTrace[]> => db.rows<StoredSipTrace>(listStatement, [organizationId, callId])

const forgetStatement = sql(
  'sip-trace-store.forgetSipTraces',
  'delete from sip_traces where organization_id = $1 and call_id = any ($2::uuid[])',
)

export const forgetSipTraces = async (
  db: Queryable,
  organizationId: OrganizationId,
  callIds: readonly string[],
): Promise<void> => {
  await db.run(forgetStatement, [organizationId, callIds])
}

const purgeStatement = sql(
  'sip-trace-store.purgeSipTraces',
  `delete from sip_traces
    where ctid = any (array(select ctid
                              from sip_traces
                             where started_at < now() - make_interval(days => ${keptDays})
                             order by started_at
                             limit $1))`,
)

/** Deletes up to `limit` that are too old, of all organizations; returns how many. */
export const purgeSipTraces = (db: Queryable, limit: number): Promise<number> =>
  db.run(purgeStatement, [limit])
