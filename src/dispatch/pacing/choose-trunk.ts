import { sql, type Database, type Transaction } from '../../database/database.ts'
import type { CallFence } from '../../domains/calls/lifecycle/call-fence.ts'
import { heldBy } from '../../domains/calls/lifecycle/call-fragments.ts'
import { findPlannedNumber } from '../../numbering/numbering-plan.ts'

/*
 * Which trunk carries a claimed call (D16), in one transaction of three statements; `choose-line.ts` chooses its number
 * with it:
 *
 *   1  lock the trunks         one choice at a time decides about their channels and calls per second
 *   2  choose and pay          of those that serve organization and country, are not paused, and have a gateway, a free
 *                              channel and a token: the lowest priority, equal ones by weight
 *   3  only where none was     why, so that the call waits for the right thing
 *
 * Invariant: live calls of a trunk never exceed its channels: a count of rows under its lock, as in claim-calls.ts.
 * A token may be taken in advance, for up to a second: the caller waits so long before the INVITE.
 */

interface TrunkRequest extends CallFence {
  /** E.164. */
  readonly phoneNumber: string
  /** Trunks that this node can reach now. */
  readonly served: readonly string[]
  /** Trunks that this attempt has tried in vain. */
  readonly tried: readonly string[]
  /** The trunk of the number that is shown; undefined: any. */
  readonly only?: string | undefined
  /** What the callee sees; undefined: what the call shows already. */
  readonly shown?: ShownCallerId | undefined
}

interface ShownCallerId {
  readonly number: string
  /** On which the call counts for the number; undefined: it is not counted. */
  readonly day: string | undefined
  /** The call is counted for it already. */
  readonly isPaid: boolean
  /** For which it is counted, and is no longer. */
  readonly unpaid?: { readonly number: string; readonly day: string }
}

export type TrunkChoice =
  | { readonly kind: 'chosen'; readonly trunk: string; readonly waitMs: number }
  | {
      readonly kind: 'none'
      readonly code:
        'no_trunk' | 'trunk_down' | 'on_trial' | 'trunk_full' | 'congested' | 'elsewhere'
      /** One sentence. */
      readonly reason: string
      /** When it may be otherwise. Undefined: a change of a trunk releases it. */
      readonly until?: Date | undefined
    }
  /** This node no longer holds the call. */
  | { readonly kind: 'lost' }

/** A call waits so long for its place in the pace of a trunk, instead of going back to the queue. */
const maxAdvanceSeconds = 1
/** A call that finds its trunks full is looked at again after this. */
const fullRetryMs = 1_000
/** The slowest pace of a congested trunk is one call in five seconds; it may have risen until then. */
const maxPaceWaitMs = 5_000

export const chooseTrunk = (db: Database, request: TrunkRequest): Promise<TrunkChoice> =>
  db.transaction(async (tx) => {
    const [, choice] = await Promise.all([lockTrunks(tx), chooseLockedTrunk(tx, request)])
    return choice
  })

/** One choice at a time, until commit. */
export const lockTrunks = async (tx: Transaction): Promise<void> => {
  await tx.run(lockStatement, [])
}

/** After `lockTrunks`. */
export const chooseLockedTrunk = async (
  tx: Transaction,
  request: TrunkRequest,
): Promise<TrunkChoice> => {
  const { organizationId, served, tried, only = null, callId, leaseToken } = request
  const country = findPlannedNumber(request.phoneNumber)?.country ?? null
  const fitting = [organizationId, country, served, tried, only]
  const call = [callId, leaseToken]
  const chosen = await tx.row<ChosenRow>(chooseStatement, [
    ...fitting,
    ...call,
    ...shownOf(request),
  ])
  if (chosen?.is_held === false) return { kind: 'lost' }
  if (chosen !== undefined)
    return { kind: 'chosen', trunk: chosen.name, waitMs: Math.max(0, chosen.wait_ms) }
  const why = await tx.row<WhyRow>(whyStatement, fitting)
  return { kind: 'none', ...whyNone(why, country) }
}

/** The number, its day, whether it is counted now, and for what the call is counted no longer. */
const shownOf = ({ shown }: TrunkRequest): readonly unknown[] => [
  shown?.number ?? null,
  shown?.day ?? null,
  shown?.day !== undefined && !shown.isPaid,
  shown?.unpaid?.number ?? null,
  shown?.unpaid?.day ?? null,
]

interface ChosenRow {
  readonly name: string
  readonly wait_ms: number
  readonly is_held: boolean
}

interface WhyRow {
  readonly fitting: number
  readonly unserved: number
  readonly up: number
  /** Of those that are up and served: tried by one call at a time. */
  readonly trials: number
  readonly reason: string | null
  /** Of the congested trunks, until the first has a place in its lowered pace. */
  readonly pace_wait_ms: number | null
}

const whyNone = (
  why: WhyRow | undefined,
  country: string | null,
): Omit<Extract<TrunkChoice, { kind: 'none' }>, 'kind'> => {
  const soon = new Date(Date.now() + fullRetryMs)
  if (why === undefined || why.fitting === 0)
    return {
      code: 'no_trunk',
      reason: `No trunk serves ${country ?? 'this number'} for its organization: trunk list shows them.`,
    }
  if (why.up === 0) return { code: 'trunk_down', reason: why.reason ?? 'Its trunks are paused.' }
  if (why.unserved === why.up)
    return { code: 'elsewhere', reason: 'This node cannot reach its trunk now.', until: soon }
  if (why.pace_wait_ms !== null)
    return {
      code: 'congested',
      reason: 'The carrier is congested: its trunk dials fewer calls now.',
      until: new Date(
        Date.now() + Math.min(Math.max(why.pace_wait_ms, fullRetryMs), maxPaceWaitMs),
      ),
    }
  if (why.trials > 0 && why.trials + why.unserved === why.up)
    return {
      code: 'on_trial',
      reason: 'Its trunk could not be used, and one call tries it again now.',
      until: soon,
    }
  return { code: 'trunk_full', reason: 'Its trunks have no free channel.', until: soon }
}

const lockStatement = sql(
  'choose-trunk.lockTrunks',
  `select set_config('synchronous_commit', 'off', true)
     from trunks
    where not paused
    order by name
      for no key update`,
)

/** As a route's after an outage (`claim-calls.ts`). */
const share = `least(1, greatest(0.1, coalesce(extract(epoch from clock_timestamp() - t.recovered_at)::double precision / 30, 1)))`

const fits = `(t.organizations is null or $1::uuid = any(t.organizations))
          and (t.countries is null or $2::text = any(t.countries))
          and ($5::text is null or t.name = $5)`

const isUp = `exists (select from trunk_gateways g where g.trunk = t.name and g.down_since is null)`

/** Only gateways that are up again to be tried: one call at a time. */
const isTrial = `not exists (select from trunk_gateways g
                              where g.trunk = t.name and g.down_since is null and g.trial_since is null)`

const chooseStatement = sql(
  'choose-trunk.choose',
  `with fitting as (
     select t.name, t.priority, t.weight, t.refill_per_second * ${share} as refill,
            least(t.burst, t.tokens + t.refill_per_second * ${share}
                  * greatest(0, extract(epoch from clock_timestamp() - t.refilled_at)::double precision)) as tokens,
            t.channels,
            -- Since then one call at a time, beside those that were live before.
            case when ${isTrial}
                 then (select min(g.trial_since) from trunk_gateways g where g.trunk = t.name and g.down_since is null)
            end as trial_since
       from trunks t
      where not t.paused
        and ${fits}
        and t.name = any($3::text[])
        and t.name <> all($4::text[])
        and ${isUp}
   ),
   chosen as (
     select f.*, greatest(0, (1 - f.tokens) / f.refill) as wait
       from fitting f
      where (f.channels is null
             or f.channels > (select count(*) from calls c
                               where c.lease_token is not null and c.trunk = f.name
                                 and c.id <> $6))
        and not (f.trial_since is not null
                 and exists (select from calls c
                              where c.lease_token is not null and c.trunk = f.name and c.id <> $6
                                and c.connected_at is null
                                and (c.dialing_at is null or c.dialing_at >= f.trial_since)))
        and f.tokens + f.refill * ${maxAdvanceSeconds} >= 1
      order by f.tokens < 1, f.priority, -ln(greatest(random(), 1e-12)) / f.weight
      limit 1
   ),
   assigned as (
     update calls c
        set trunk = h.name,
            caller_id = coalesce($8::text, c.caller_id),
            caller_id_day = case when $8::text is null then c.caller_id_day else $9::date end
       from chosen h
      where c.organization_id = $1
        and c.id = $6
        and ${heldBy('$7', 'c.lease_token')}
     returning c.id
   ),
   counted as (
     insert into caller_number_days as d (organization_id, phone_number, day, calls)
     select $1, $8, $9::date, 1
       from assigned
      where $10::boolean
     on conflict (organization_id, phone_number, day) do update set calls = d.calls + 1
   ),
   uncounted as (
     update caller_number_days d
        set calls = d.calls - 1
       from assigned
      where d.organization_id = $1
        and d.phone_number = $11
        and d.day = $12::date
   ),
   paid as (
     update trunks t
        set tokens = h.tokens - 1, refilled_at = clock_timestamp()
       from chosen h
      where t.name = h.name
        and exists (select from assigned)
   )
   select name, wait * 1000 as wait_ms, exists (select from assigned) as is_held
     from chosen`,
)

const whyStatement = sql(
  'choose-trunk.whyNone',
  `select count(*)::integer as fitting,
          (count(*) filter (where not t.paused and ${isUp}
                              and not (t.name = any($3::text[]) and t.name <> all($4::text[]))))::integer as unserved,
          (count(*) filter (where not t.paused and ${isUp}))::integer as up,
          (count(*) filter (where not t.paused and ${isUp} and ${isTrial}
                              and t.name = any($3::text[]) and t.name <> all($4::text[])))::integer as trials,
          (array_agg(g.down_reason order by t.priority, t.name) filter (where not t.paused and g.down_reason is not null))[1]
            as reason,
          1000 * min(case when 1 - t.tokens <= 0 then 0
                          else (1 - t.tokens) / t.refill_per_second
                               - greatest(0, extract(epoch from clock_timestamp() - t.refilled_at)::double precision) end)
                   filter (where t.paced_per_second is not null and not t.paused and ${isUp}) as pace_wait_ms
     from trunks t
     left join lateral (select down_reason from trunk_gateways
                         where trunk = t.name and down_since is not null
                         order by position limit 1) g on true
    where ${fits}`,
)
