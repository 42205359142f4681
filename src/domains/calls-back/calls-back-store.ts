import type { CallBackResult } from '../../contract/calls-back.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { list, sql, type Queryable } from '../../database/database.ts'
import { nationalDigits } from '../../numbering/national-number.ts'

/** A call of a person to one of our numbers. */
export interface CallBackRecord {
  readonly id: string
  readonly organization_id: OrganizationId | null
  readonly at: Date
  readonly trunk: string
  /** Null: withheld, or erased. */
  readonly phone_number: string | null
  readonly called_number: string
  readonly result: CallBackResult
  /** Null: it is not over, or its node died. */
  readonly sip_status: number | null
  readonly seconds: number | null
  readonly reason: string | null
}

/** How long they are kept. */
const keptDays = 90

interface NewCallBack {
  readonly id: string
  readonly organizationId: OrganizationId | undefined
  readonly mergeKey: string
  readonly trunk: string
  readonly phoneNumber: string | undefined
  readonly calledNumber: string
  readonly result: CallBackResult
  readonly sipStatus?: number | undefined
  readonly reason?: string | undefined
}

const claimStatement = sql(
  'calls-back-store.claimCallBack',
  `insert into calls_back (id, organization_id, merge_key, trunk, phone_number, called_number, result, sip_status, reason)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
   on conflict (merge_key) do nothing`,
)

/** False: a copy of the same INVITE has its answer already, from this node or another. */
export const claimCallBack = async (db: Queryable, call: NewCallBack): Promise<boolean> =>
  (await db.run(claimStatement, [
    call.id,
    call.organizationId ?? null,
    call.mergeKey,
    call.trunk,
    call.phoneNumber ?? null,
    call.calledNumber,
    call.result,
    call.sipStatus ?? null,
    call.reason ?? null,
  ])) === 1

const finishStatement = sql(
  'calls-back-store.finishCallBack',
  `update calls_back
      set result     = $2,
          sip_status = $3,
          seconds    = $4,
          reason     = $5
    where id = $1`,
)

/** How a call back ended that was claimed before. */
export interface CallBackEnd {
  readonly result: CallBackResult
  readonly sipStatus: number
  readonly seconds?: number | undefined
  readonly reason?: string | undefined
}

export const finishCallBack = async (
  db: Queryable,
  id: string,
  { result, sipStatus, seconds, reason }: CallBackEnd,
): Promise<void> => {
  await db.run(finishStatement, [id, result, sipStatus, seconds ?? null, reason ?? null])
}

const columns = `id, organization_id, at, trunk, phone_number, called_number, result, sip_status, seconds, reason`

const listStatement = list(
  'calls-back-store.listCallsBack',
  `select ${columns}
     from calls_back
    where organization_id = $1
    order by at desc, id desc
    limit $2`,
)

/** Of one organization, newest first. */
export const listCallsBack = (
  db: Queryable,
  organizationId: OrganizationId,
  limit: number,
): Promise<CallBackRecord[]> => db.rows<CallBackRecord>(listStatement, [organizationId, limit])

const listUnownedStatement = sql(
  'calls-back-store.listUnownedCallsBack',
  `select ${columns}
     from calls_back
    where organization_id is null
    order by at desc, id desc
    limit $1`,
)

/** Those to numbers of no organization, or of several: for operators. */
export const listUnownedCallsBack = (db: Queryable, limit: number): Promise<CallBackRecord[]> =>
  db.rows<CallBackRecord>(listUnownedStatement, [limit])

const forgetStatement = sql(
  'calls-back-store.forgetCaller',
  `update calls_back
      set phone_number = null
    where phone_number = any ($2)
      and (organization_id = $1 or organization_id is null)`,
)

/** The person is erased, however trunks write the number; the fact that a call came stays. */
export const forgetCaller = async (
  db: Queryable,
  organizationId: OrganizationId,
  phoneNumber: string,
): Promise<void> => {
  const spellings = [phoneNumber, phoneNumber.replace('+', ''), nationalDigits(phoneNumber)]
  await db.run(forgetStatement, [organizationId, spellings.filter((each) => each !== undefined)])
}

const expiredStatement = sql(
  'calls-back-store.purgeExpired',
  `delete from calls_back
    where ctid = any (array(select ctid
                              from calls_back
                             where at < now() - make_interval(days => ${keptDays})
                             order by at
                             limit $1))`,
)

// Read from the old end of each organization's index: a run that finds nothing costs one probe for each organization.
const shorterStatement = sql(
  'calls-back-store.purgeShorter',
  `delete from calls_back c
    using (select e.id
             from organizations o
            cross join lateral (select b.id
                                  from calls_back b
                                 where b.organization_id = o.id
                                   and b.at < now() - make_interval(days => o.retention_days)
                                 order by b.at, b.id
                                 limit $1) as e
            where o.retention_days is not null
            limit $1) as old
    where c.id = old.id`,
)

/** Deletes up to `limit` that are too old, or older than their organization keeps anything; returns how many. */
export const purgeCallsBack = async (db: Queryable, limit: number): Promise<number> => {
  const expired = await db.run(expiredStatement, [limit])
  return expired < limit ? Math.max(expired, await db.run(shorterStatement, [limit])) : expired
}
