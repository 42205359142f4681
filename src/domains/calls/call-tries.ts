import type { OrganizationId } from '../../contract/organization-id.ts'
import { sql, type Queryable } from '../../database/database.ts'

/** One gateway that was asked to carry a call. */
interface CallTry {
  readonly trunk: string
  readonly gateway: string
  readonly startedAt: Date
  readonly endedAt: Date
  readonly sipStatus?: number
  /** One sentence. */
  readonly reason: string
  readonly invited: boolean
  readonly rang: boolean
}

const insertStatement = sql(
  'call-tries.insertTries',
  `insert into call_tries (organization_id, call_id, attempt, position, trunk, gateway, started_at, ended_at,
                           sip_status, reason, invited, rang)
   select $1, $2, $3, t.position, t.trunk, t.gateway, t.started_at, t.ended_at, t.sip_status, left(t.reason, 500),
          t.invited, t.rang
     from jsonb_to_recordset($4::jsonb)
       as t (position smallint, trunk text, gateway text, started_at timestamptz, ended_at timestamptz,
             sip_status integer, reason text, invited boolean, rang boolean)
   on conflict do nothing`,
)

/** At most three in one attempt. */
export const insertTries = async (
  db: Queryable,
  call: { readonly organizationId: OrganizationId; readonly callId: string },
  attempt: number,
  tries: readonly CallTry[],
): Promise<void> => {
  if (tries.length === 0) return
  const rows = tries.map((each, index) => ({
    position: index + 1,
    trunk: each.trunk,
    gateway: each.gateway,
    started_at: each.startedAt,
    ended_at: each.endedAt,
    sip_status: each.sipStatus ?? null,
    reason: each.reason,
    invited: each.invited,
    rang: each.rang,
  }))
  await db.run(insertStatement, [call.organizationId, call.callId, attempt, JSON.stringify(rows)])
}
