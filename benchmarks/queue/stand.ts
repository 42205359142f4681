import { join } from 'node:path'
import { sql, type Database, type Queryable } from '../../src/database/database.ts'
import type { EmbeddedPostgres } from '../../src/database/embedded-postgres.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/open-database.ts'
import type { OrganizationId } from '../../src/contract/organization-id.ts'
import {
  claimCalls,
  settleExhausted,
  type CallClaim,
} from '../../src/dispatch/claim/claim-calls.ts'
import { maxUnsettled } from '../../src/dispatch/claim/claim-turn.ts'
import { newId } from '../../src/runtime/ids.ts'
import { silentLogger } from '../../src/runtime/logger.ts'

export type Connection = EmbeddedPostgres['connection']

/** A separate database with a backlog. */
export interface Stand {
  readonly db: Database
  readonly connection: Connection
  readonly nodeId: string
  close(): Promise<void>
}

/** Claims as the turns of a dispatcher do: now and then with the settlement of organizations without further calls. */
export const createClaimer = (
  { db, nodeId }: Pick<Stand, 'db' | 'nodeId'>,
  limit: number,
): (() => Promise<CallClaim>) => {
  const unsettled: OrganizationId[] = []
  return async () => {
    const claim = await claimCalls(db, { nodeId, route: 'env', limit, except: [] })
    unsettled.push(...claim.exhausted)
    if (unsettled.length >= maxUnsettled) await settleExhausted(db, unsettled.splice(0))
    return claim
  }
}

export interface Backlog {
  readonly calls: number
  readonly organizations: number
  /** Lanes with calls, in each organization. */
  readonly lanes?: number
  /** Empty lanes, which are inspected too. */
  readonly emptyLanes?: number
}

const defaultLanes = 3
/** A million rows take a while. */
const statementTimeoutMs = 600_000

export const openStand = async (
  server: Connection,
  name: string,
  backlog: Backlog,
): Promise<Stand> => {
  const admin = openDatabase({ connection: server, logger: silentLogger })
  await run(admin, `create database ${name}`)
  const connection = { ...server, database: name }
  const folder = join(import.meta.dirname, '../../migrations')
  await migrate({ connection, folder, logger: silentLogger })
  const db = openDatabase({ connection, logger: silentLogger, statementTimeoutMs })
  await fill(db, backlog)
  const close = async (): Promise<void> => {
    await db.stop()
    await run(admin, `drop database ${name} with (force)`)
    await admin.stop()
  }
  return { db, connection, nodeId: newId(), close }
}

let statements = 0

/** A statement that is sent once. */
export const run = (
  db: Queryable,
  text: string,
  values: readonly unknown[] = [],
): Promise<number> => {
  statements += 1
  return db.run(sql(`bench.${statements}`, text), values)
}

/**
 * Every organization has one agent, one contact, a lane of immediate calls and lanes of batches. Ids are ordered by
 * time, as the product creates them: the embedded server has the function.
 */
const fill = async (
  db: Database,
  { calls, organizations, lanes = defaultLanes, emptyLanes = 0 }: Backlog,
): Promise<void> => {
  await run(
    db,
    `insert into organizations (id, name, default_version, public_api_enabled, concurrency, policy)
     select uuidv7(), 'bench', '2026-07-16', true, 1000, '{}'
       from generate_series(1, $1)`,
    [organizations],
  )
  await run(
    db,
    `insert into agents (organization_id, id, name, language, published_version)
     select id, id, 'bench', 'en', 1 from organizations`,
  )
  await run(
    db,
    `insert into agent_versions (organization_id, agent_id, version, definition)
     select id, id, 1, '{}' from organizations`,
  )
  await run(
    db,
    `insert into lanes (organization_id, id, kind, source_id, time_zones, rank, opens_at, closes_at, recompute_at)
     select o.id, gen_random_uuid(), case k when 1 then 'immediate' else 'batch' end, gen_random_uuid(),
            case when k > $2 then 'Etc/UTC' else '' end, case k when 1 then 0 else 2 end,
            now() - interval '1 hour', now() + interval '8 hours', 'infinity'
       from organizations o cross join generate_series(1, $1::integer) as k`,
    [lanes + emptyLanes, lanes],
  )
  // The product's connections join only by an index: any other plan would search all lanes for every call.
  await db.transaction(async (tx) => {
    await run(tx, 'set local enable_hashjoin = on')
    await run(
      tx,
      `with lane as materialized (
       select organization_id, id, row_number() over (order by id) - 1 as position
         from lanes
        where time_zones = ''
     )
     insert into calls (organization_id, id, origin, contact_id, agent_id, agent_version, phone_number, lane_id, not_before)
     select l.organization_id, uuidv7(), 'api', l.organization_id, l.organization_id, 1, '+1202' || (2000000 + n), l.id,
            now() - interval '1 hour' + n * interval '1 millisecond'
       from generate_series(1, $1::integer) as n
       join lane l on l.position = n % $2::integer`,
      [calls, organizations * lanes],
    )
  })
  await run(db, 'update dispatch_organizations set ready = true')
  await run(
    db,
    'update routes set channels = 1000000, burst = 1e9, tokens = 1e9, refill_per_second = 1e9',
  )
  await analyze(db)
}

export const analyze = async (db: Database): Promise<void> => {
  for (const table of ['calls', 'lanes', 'dispatch_organizations', 'organizations', 'routes'])
    await run(db, `vacuum analyze ${table}`)
}
