import { sql, type Database, type Transaction } from '../database/database.ts'
import { newId } from '../runtime/ids.ts'

/*
 * How queued calls are claimed: one transaction of six statements in two round trips.
 *
 *   1  lock the trunk                      one claim at a time decides about channels and calls per second
 *   2  refill its bucket, count live rows  in a later statement than the lock, so the count is exact
 *   3  lock organizations, fairest first   NO KEY UPDATE SKIP LOCKED: placing calls goes on meanwhile
 *   ── round trip ──
 *   4  claim                               capacity of each organization counted under its lock
 *   5  lock the exhausted ones FOR UPDATE  unless somebody is placing a call there right now
 *   6  settle them: not ready until …      looks again, after the lock: no wake-up is lost
 *
 * Invariant: live rows of an organization never exceed its concurrency, live rows in all never exceed the trunk's
 * channels: both are counts of rows under a lock, not counters that could leak.
 *
 * Fairness is start-time fair queueing, twice: among organizations, and within each among sources of work (immediate
 * calls, each batch) of one rank. A lower rank goes first; lanes of one source go by age. Lanes are found by skipping
 * through the queue's index, so that empty lanes cost nothing and can starve nobody.
 *
 * EXPLAIN (10 organizations of 3 lanes each, 10 calls): every access is by index. dispatch_organizations_ready gives ten
 * rows in order; calls_queue is probed once per lane (40 probes, index only, 0.2 ms) and read once per lane for the calls
 * that are due; calls_live is counted per organization. Half of the statement's 1.2 ms is the update of ten calls, which
 * touches six indexes each.
 *
 * `benchmarks/queue.ts`, claims of 10 by turns over the backlogs, PostgreSQL 18 with fsync, commit included; two cores
 * that were also busy with other work (load 3 to 4), so that the ratios are the figures to trust:
 *
 *     organizations    p50 ms (p99) at 10 thousand     100 thousand        1 million     1 million / 10 thousand
 *                 1               2.37  (8.8)           2.61 (15)          2.89  (8.9)            1.22
 *               100               2.80 (14)             3.20 (20)          3.58 (16)              1.28
 *            10,000               2.93 (33)             3.46 (19)          4.22 (22)              1.44
 */

/** Organizations looked at in one claim. */
const maxOrganizations = 32

export interface ClaimRequest {
  readonly nodeId: string
  /** Calls wanted. */
  readonly limit: number
  /** Organizations already found to have nothing more in this turn. */
  readonly except: readonly string[]
}

export interface ClaimedCall {
  readonly organizationId: string
  readonly callId: string
  readonly leaseToken: string
}

export interface Claim {
  readonly calls: readonly ClaimedCall[]
  /** Organizations that gave less than they were asked for. */
  readonly exhausted: readonly string[]
  /** Why it ended: `limit` reached (there may be more), nothing `ready`, no free `channels`, or `pace`. */
  readonly stopped: 'limit' | 'nothing_ready' | 'channels' | 'pace'
  /** With `pace`: when the next call may start. */
  readonly retryInMs?: number
}

/** Leases up to `limit` due calls for this node; their status stays `queued`. */
export const claimCalls = (db: Database, request: ClaimRequest): Promise<Claim> =>
  db.transaction(async (tx) => {
    const [, trunk, organizations] = await Promise.all([
      tx.run(lockTrunkStatement, []),
      tx.row<TrunkRow>(refillTrunkStatement, []),
      tx.rows<{ organization_id: string }>(lockOrganizationsStatement, [
        Math.min(request.limit, maxOrganizations),
        request.except,
      ]),
    ])
    if (!trunk) throw new Error('the trunk has no row')
    if (organizations.length === 0) return stopped('nothing_ready')
    if (trunk.free_channels < 1) return stopped('channels')
    if (trunk.tokens < 1) {
      return {
        ...stopped('pace'),
        retryInMs: ((1 - trunk.tokens) / trunk.refill_per_second) * 1000,
      }
    }
    return claimFrom(
      tx,
      request,
      trunk,
      organizations.map((row) => row.organization_id),
    )
  })

const stopped = (reason: Claim['stopped']): Claim => ({ calls: [], exhausted: [], stopped: reason })

const claimFrom = async (
  tx: Transaction,
  { limit, nodeId }: ClaimRequest,
  trunk: TrunkRow,
  locked: readonly string[],
): Promise<Claim> => {
  const wanted = Math.min(limit, trunk.free_channels, Math.floor(trunk.tokens))
  const organizations = locked.slice(0, wanted)
  const share = Math.ceil(wanted / organizations.length)
  const settlingToken = newId()
  const [rows] = await Promise.all([
    tx.rows<ClaimedRow>(claimStatement, [organizations, wanted, share, nodeId, trunk.virtual_time]),
    tx.run(lockExhaustedStatement, [organizations, settlingToken]),
    tx.run(settleStatement, [organizations, settlingToken]),
  ])
  const calls = rows.map((row) => ({
    organizationId: row.organization_id,
    callId: row.id,
    leaseToken: row.lease_token,
  }))
  return {
    calls,
    exhausted: organizations.filter(
      (id) => calls.filter((call) => call.organizationId === id).length < share,
    ),
    stopped: 'limit',
  }
}

interface TrunkRow {
  readonly free_channels: number
  readonly tokens: number
  readonly refill_per_second: number
  readonly virtual_time: number
}

interface ClaimedRow {
  readonly organization_id: string
  readonly id: string
  readonly lease_token: string
}

const lockTrunkStatement = sql(
  'claim-calls.lockTrunk',
  `select
     from trunk
    where id = 1
      for update`,
)

const refillTrunkStatement = sql(
  'claim-calls.refillTrunk',
  `update trunk
      set tokens = least(burst, tokens + refill_per_second
                   * greatest(0, extract(epoch from clock_timestamp() - refilled_at)::double precision)),
          refilled_at = clock_timestamp()
    where id = 1
   returning channels - (select count(*) from calls where lease_token is not null) as free_channels,
             tokens, refill_per_second, virtual_time`,
)

const lockOrganizationsStatement = sql(
  'claim-calls.lockOrganizations',
  `select organization_id
     from dispatch_organizations
    where ready
      and organization_id <> all($2::uuid[])
    order by virtual_time, organization_id
    limit $1
      for no key update skip locked`,
)

/** The lanes of `from` that hold a waiting call: one index probe each, however many calls wait in them. */
const occupiedFragment = (from: string): string => `occupied (organization_id, lane_id) as (
     select c.organization_id,
            (select q.lane_id from calls q
              where q.organization_id = c.organization_id and q.status = 'queued' and q.lease_token is null
              order by q.lane_id limit 1)
       from ${from} c
      where c.room > 0
      union all
     select p.organization_id,
            (select q.lane_id from calls q
              where q.organization_id = p.organization_id and q.status = 'queued' and q.lease_token is null
                and q.lane_id > p.lane_id
              order by q.lane_id limit 1)
       from occupied p
      where p.lane_id is not null
   )`

const claimStatement = sql(
  'claim-calls.claim',
  `with recursive chosen as materialized (
     select d.organization_id, d.lane_virtual_time,
            greatest(d.virtual_time, $5::bigint) as start,
            least($3::bigint, o.concurrency - (select count(*) from calls l
                                                where l.organization_id = d.organization_id
                                                  and l.lease_token is not null)) as room
       from dispatch_organizations d
       join organizations o on o.id = d.organization_id
      where d.organization_id = any($1::uuid[])
   ),
   ${occupiedFragment('chosen')},
   open_lanes as materialized (
     select l.organization_id, l.id, l.source_id, l.rank, c.room,
            max(greatest(l.virtual_time, c.lane_virtual_time)) over source as start,
            min(l.source_id::text) over sources <> max(l.source_id::text) over sources as is_contested
       from occupied p
       join lanes l  on l.organization_id = p.organization_id and l.id = p.lane_id
       join chosen c on c.organization_id = p.organization_id
      where not l.paused
        and l.opens_at <= statement_timestamp()
        and l.closes_at > statement_timestamp()
     window source as (partition by l.organization_id, l.rank, l.source_id),
            sources as (partition by l.organization_id, l.rank)
   ),
   due as (
     select l.organization_id, l.rank, l.source_id, l.start, l.room, q.id, q.not_before
       from open_lanes l
      cross join lateral (
        select c.id, c.not_before
          from calls c
         where c.organization_id = l.organization_id
           and c.lane_id = l.id
           and c.status = 'queued'
           and c.lease_token is null
           and c.not_before <= statement_timestamp()
         order by c.not_before, c.id
         limit l.room
      ) q
   ),
   tagged as (
     select d.*, d.start + row_number() over (partition by organization_id, rank, source_id
                                                  order by not_before, id) as tag
       from due d
   ),
   ranked as (
     select t.*, row_number() over (partition by organization_id order by rank, tag, not_before, id) as place
       from tagged t
   ),
   taken as (
     select r.organization_id, r.id, r.rank, r.source_id
       from ranked r
       join chosen c on c.organization_id = r.organization_id
      where r.place <= r.room
      order by c.start + r.place, r.organization_id, r.place
      limit $2
   ),
   held as (
     -- A row that is being cancelled at this moment is left alone: claiming waits for nobody.
     select q.organization_id, q.id, t.rank, t.source_id
       from taken t
       join calls q on q.organization_id = t.organization_id and q.id = t.id
      where q.status = 'queued'
        and q.lease_token is null
        for no key update of q skip locked
   ),
   leased as (
     update calls c
        set lease_token = gen_random_uuid(),
            node_id     = $4,
            claimed_at  = statement_timestamp(),
            wait_reason = null
       from held h
      where c.organization_id = h.organization_id
        and c.id = h.id
     returning c.organization_id, c.id, c.lease_token, h.rank, h.source_id
   ),
   served as (
     select organization_id, count(*) as calls
       from leased
      group by organization_id
   ),
   served_sources as (
     select l.organization_id, l.source_id, count(distinct l.id) as calls, min(o.start) as start
       from leased l
       join open_lanes o on o.organization_id = l.organization_id and o.rank = l.rank
                        and o.source_id = l.source_id
      where o.is_contested
      group by l.organization_id, l.source_id
   ),
   lane_clocks as (
     update lanes l
        set virtual_time = s.start + s.calls
       from served_sources s
      where l.organization_id = s.organization_id
        and l.source_id = s.source_id
   ),
   organization_clocks as (
     update dispatch_organizations d
        set virtual_time      = case when s.calls is null then d.virtual_time else c.start + s.calls end,
            lane_virtual_time = greatest(d.lane_virtual_time,
                                         (select min(start) from served_sources f
                                           where f.organization_id = d.organization_id)),
            exhausted         = coalesce(s.calls, 0) < $3
       from chosen c
       left join served s on s.organization_id = c.organization_id
      where d.organization_id = c.organization_id
   ),
   trunk_clock as (
     update trunk
        set tokens       = tokens - (select count(*) from leased),
            virtual_time = greatest(virtual_time, (select min(c.start) from chosen c join served using (organization_id)))
      where id = 1
   )
   select organization_id, id, lease_token
     from leased`,
)

const lockExhaustedStatement = sql(
  'claim-calls.lockExhausted',
  `update dispatch_organizations
      set settling_token = $2
    where organization_id in (select organization_id
                                from dispatch_organizations
                               where organization_id = any($1::uuid[])
                                 and exhausted
                                 for update skip locked)`,
)

const settleStatement = sql(
  'claim-calls.settle',
  `with recursive settling as materialized (
     select d.organization_id,
            o.concurrency - (select count(*) from calls l
                              where l.organization_id = d.organization_id
                                and l.lease_token is not null) as room
       from dispatch_organizations d
       join organizations o on o.id = d.organization_id
      where d.organization_id = any($1::uuid[])
        and d.settling_token = $2
   ),
   ${occupiedFragment('settling')},
   next_work as (
     select p.organization_id, min(greatest(head.not_before, l.opens_at)) as due_at
       from occupied p
       join lanes l on l.organization_id = p.organization_id and l.id = p.lane_id
      cross join lateral (
        select c.not_before
          from calls c
         where c.organization_id = l.organization_id
           and c.lane_id = l.id
           and c.status = 'queued'
           and c.lease_token is null
         order by c.not_before, c.id
         limit 1
      ) head
      where not l.paused
        and l.closes_at > statement_timestamp()
      group by p.organization_id
   )
   update dispatch_organizations d
      set ready          = coalesce(n.due_at <= statement_timestamp(), false),
          wake_at        = coalesce(n.due_at, 'infinity'),
          exhausted      = false,
          settling_token = null
     from settling s
     left join next_work n on n.organization_id = s.organization_id
    where d.organization_id = s.organization_id`,
)
