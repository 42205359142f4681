import { sql, type Queryable } from '../../database/database.ts'

/** Statements of the doctor about what no domain owns: the database server, and the nodes of this machine. */

const serverStatement = sql(
  'doctor-store.readServer',
  `select current_setting('server_version') as version,
          current_setting('server_version_num')::integer as number,
          current_setting('fsync') = 'on' and current_setting('synchronous_commit') <> 'off' as is_durable,
          extract(epoch from clock_timestamp())::double precision * 1000 as now_ms`,
)

interface DatabaseServer {
  readonly version: string
  /** As `server_version_num`: 150004. */
  readonly number: number
  readonly is_durable: boolean
  readonly now_ms: number
}

export const readServer = (db: Queryable): Promise<DatabaseServer | undefined> =>
  db.row<DatabaseServer>(serverStatement, [])

const runningStatement = sql(
  'doctor-store.listRunningNodes',
  `select name, settings
     from nodes
    where lease_until > clock_timestamp()
      and settings <> '{}'
      and starts_with(name, $1)
    order by started_at desc
    limit 100`,
)

interface RunningNode {
  readonly name: string
  readonly settings: Readonly<Record<string, string>>
}

/** The newest 100 nodes with a valid lease whose names begin with the prefix. */
export const listRunningNodes = (db: Queryable, prefix: string): Promise<RunningNode[]> =>
  db.rows<RunningNode>(runningStatement, [prefix])
