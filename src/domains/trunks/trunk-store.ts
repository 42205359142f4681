import { sql, type Queryable } from '../../database/database.ts'
import type { TrunkSettings } from './trunk-settings.ts'

/** A changed trunk is a notification on this channel; nodes look every few seconds anyway. */
export const trunksChannel = 'outdial_trunks'

export type GatewayFaultCause = 'unreachable' | 'credentials' | 'congested' | 'registration'

interface GatewayRow {
  readonly uri: string
  readonly down_since: string | null
  readonly down_cause: GatewayFaultCause | null
  readonly down_reason: string | null
  readonly retry_at: string | null
  readonly is_trial: boolean
}

interface RegistrationRow {
  readonly gateway: string
  readonly node: string
  readonly state: 'registering' | 'registered' | 'failed'
  readonly reason: string | null
  readonly expires_at: string | null
}

export interface TrunkRow {
  readonly name: string
  readonly settings: TrunkSettings
  readonly secrets: Buffer | null
  readonly priority: number
  readonly weight: number
  readonly channels: number | null
  readonly calls_per_second: number
  /** Of a congested carrier; null: all of them. */
  readonly paced_per_second: number | null
  readonly congested_since: Date | null
  readonly congested_reason: string | null
  readonly countries: readonly string[] | null
  readonly organizations: readonly string[] | null
  readonly paused: boolean
  readonly revision: number
  readonly live_calls: number
  readonly gateways: readonly GatewayRow[]
  readonly registrations: readonly RegistrationRow[]
  readonly created_at: Date
  readonly updated_at: Date
}

/** Over all organizations, because trunks belong to the installation. */
const columns = `t.name, t.settings, t.secrets, t.priority, t.weight, t.channels, t.calls_per_second, t.paced_per_second,
          t.congested_since, t.congested_reason, t.countries, t.organizations, t.paused, t.revision, t.created_at, t.updated_at,
          (select count(*) from calls c where c.lease_token is not null and c.trunk = t.name)::integer as live_calls,
          coalesce((select jsonb_agg(jsonb_build_object('uri', g.uri, 'down_since', g.down_since,
                             'down_cause', g.down_cause, 'down_reason', g.down_reason, 'retry_at', g.retry_at,
                             'is_trial', g.trial_since is not null)
                             order by g.position)
                      from trunk_gateways g where g.trunk = t.name), '[]') as gateways,
          coalesce((select jsonb_agg(jsonb_build_object('gateway', r.gateway, 'node', n.name, 'state', r.state,
                             'reason', r.reason, 'expires_at', r.expires_at)
                             order by n.name, r.gateway)
                      from trunk_registrations r
                      join nodes n on n.id = r.node_id and n.lease_until > now() and n.rescued_at is null
                     where r.trunk = t.name), '[]') as registrations`

const listStatement = sql(
  'trunk-store.listTrunkRows',
  `select ${columns}
     from trunks t
    order by t.priority, t.name`,
)

export const listTrunkRows = (db: Queryable): Promise<TrunkRow[]> =>
  db.rows<TrunkRow>(listStatement, [])

const findStatement = sql(
  'trunk-store.findTrunkRow',
  `select ${columns}
     from trunks t
    where t.name = $1
      for update of t`,
)

/** Locks the trunk until commit. */
export const lockTrunkRow = (db: Queryable, name: string): Promise<TrunkRow | undefined> =>
  db.row<TrunkRow>(findStatement, [name])

const countStatement = sql(
  'trunk-store.countTrunks',
  'select count(*)::integer as count from trunks',
)

export const countTrunks = async (db: Queryable): Promise<number> =>
  (await db.row<{ count: number }>(countStatement, []))?.count ?? 0

const sealedStatement = sql(
  'trunk-store.listSealedSecrets',
  `select name, secrets
     from trunks
    where secrets is not null
    order by name`,
)

/** The trunks with a password or a key, encrypted. */
export const listSealedSecrets = (
  db: Queryable,
): Promise<{ readonly name: string; readonly secrets: Buffer }[]> =>
  db.rows<{ name: string; secrets: Buffer }>(sealedStatement, [])

/** What is written of a trunk. */
interface TrunkWrite {
  readonly name: string
  readonly settings: object
  readonly secrets: Buffer | null
  readonly priority: number
  readonly weight: number
  readonly channels: number | null
  readonly callsPerSecond: number
  readonly burst: number
  readonly refillPerSecond: number
  readonly countries: readonly string[] | null
  readonly organizations: readonly string[] | null
}

// The bucket starts with one call: a new trunk gets no volley.
const writeStatement = sql(
  'trunk-store.writeTrunk',
  `insert into trunks (name, settings, secrets, priority, weight, channels, calls_per_second, burst, refill_per_second,
                       countries, organizations)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
   on conflict (name) do update
      set settings = $2, secrets = $3, priority = $4, weight = $5, channels = $6, calls_per_second = $7, burst = $8,
          refill_per_second = $9, countries = $10, organizations = $11, tokens = least(trunks.tokens, $8),
          paced_per_second = null, congested_at = null, congested_since = null, congested_reason = null,
          raised_at = null, revision = trunks.revision + 1, updated_at = now()`,
)

// A gateway that stays keeps its circuit, unless the change may have mended it.
const gatewaysStatement = sql(
  'trunk-store.writeGateways',
  `with gone as (
     delete from trunk_gateways
      where trunk = $1
        and uri <> all($2::text[])
   )
   insert into trunk_gateways (trunk, uri, position)
   select $1, u.uri, u.position
     from unnest($2::text[]) with ordinality as u (uri, position)
   on conflict (trunk, uri) do update
      set position = excluded.position,
          down_since = case when $3 then null else trunk_gateways.down_since end,
          down_cause = case when $3 then null else trunk_gateways.down_cause end,
          down_reason = case when $3 then null else trunk_gateways.down_reason end,
          trial_since = case when $3 then null else trunk_gateways.trial_since end`,
)

/** Inserts or replaces. `isMended`: closes the circuits, because what failed was changed. */
export const writeTrunk = async (
  db: Queryable,
  trunk: TrunkWrite,
  uris: readonly string[],
  isMended: boolean,
): Promise<void> => {
  await db.run(writeStatement, [
    trunk.name,
    JSON.stringify(trunk.settings),
    trunk.secrets,
    trunk.priority,
    trunk.weight,
    trunk.channels,
    trunk.callsPerSecond,
    trunk.burst,
    trunk.refillPerSecond,
    trunk.countries,
    trunk.organizations,
  ])
  await db.run(gatewaysStatement, [trunk.name, uris, isMended])
}

const pauseStatement = sql(
  'trunk-store.pauseTrunk',
  `update trunks
      set paused = $2, updated_at = now()
    where name = $1`,
)

export const pauseTrunkRow = (db: Queryable, name: string, paused: boolean): Promise<number> =>
  db.run(pauseStatement, [name, paused])

const deleteStatement = sql('trunk-store.deleteTrunk', 'delete from trunks where name = $1')

export const deleteTrunkRow = (db: Queryable, name: string): Promise<number> =>
  db.run(deleteStatement, [name])

const unknownStatement = sql(
  'trunk-store.unknownOrganizations',
  `select u.id
     from unnest($1::uuid[]) as u (id)
     left join organizations o on o.id = u.id
    where o.id is null or o.mode is distinct from 'live'`,
)

/** Those that do not exist, or are no live ones. */
export const unknownOrganizations = async (
  db: Queryable,
  ids: readonly string[],
): Promise<readonly string[]> =>
  (await db.rows<{ id: string }>(unknownStatement, [ids])).map(({ id }) => id)
