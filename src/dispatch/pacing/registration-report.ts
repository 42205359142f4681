import { sql, type Database } from '../../database/database.ts'
import type { Logger } from '../../runtime/logger.ts'
import { repeat, type Repeating } from '../../runtime/repeating.ts'
import type { Service } from '../../runtime/service.ts'
import { systemTime } from '../../runtime/time.ts'

/** One registration of this node. */
export interface NodeRegistration {
  readonly trunk: string
  readonly gateway: string
  readonly state: 'registering' | 'registered' | 'failed'
  readonly reason?: string | undefined
  readonly expiresAt?: Date | undefined
}

interface ReportOptions {
  readonly database: Database
  /** Undefined: this process holds no lease yet. */
  readonly nodeId: () => string | undefined
  readonly registrations: () => readonly NodeRegistration[]
  readonly logger: Logger
}

const reportMs = 1_000

const writeStatement = sql(
  'registration-report.write',
  `with told as (
     select *
       from jsonb_to_recordset($2::jsonb)
         as t (trunk text, gateway text, state text, reason text, expires_at timestamptz)
   ),
   gone as (
     delete from trunk_registrations r
      where r.node_id = $1
        and not exists (select from told t where t.trunk = r.trunk and t.gateway = r.gateway)
   )
   insert into trunk_registrations as r (trunk, gateway, node_id, state, reason, expires_at, updated_at)
   select t.trunk, t.gateway, $1, t.state, left(t.reason, 500), t.expires_at, clock_timestamp()
     from told t
    where exists (select from trunks where name = t.trunk)
      and exists (select from nodes where id = $1)
   on conflict (trunk, gateway, node_id) do update
      set state = excluded.state, reason = excluded.reason, expires_at = excluded.expires_at,
          updated_at = excluded.updated_at`,
)

const registered = `exists (select from trunk_registrations r
                             join nodes n on n.id = r.node_id
                                         and n.lease_until > clock_timestamp() and n.rescued_at is null
                            where r.trunk = g.trunk and r.gateway = g.uri and r.state = 'registered')`

// A gateway that no live node is registered at takes no call; one that any node is, does again.
const openStatement = sql(
  'registration-report.openCircuits',
  `update trunk_gateways g
      set down_since  = clock_timestamp(),
          down_cause  = 'registration',
          down_reason = coalesce((select r.reason from trunk_registrations r
                                   where r.trunk = g.trunk and r.gateway = g.uri and r.reason is not null
                                   order by r.updated_at desc limit 1), 'The registration is under way.'),
          retry_at    = null,
          ping_at     = null,
          trial_since = null
     from trunks t
    where t.name = g.trunk
      and t.settings ->> 'register' = 'true'
      and (g.down_since is null or g.down_cause <> 'registration')
      and not ${registered}
  returning g.trunk, g.uri, g.down_reason as reason`,
)

const closeStatement = sql(
  'registration-report.closeCircuits',
  `update trunk_gateways g
      set down_since   = null,
          down_cause   = null,
          down_reason  = null,
          recovered_at = clock_timestamp()
     from trunks t
    where t.name = g.trunk
      and g.down_cause = 'registration'
      and (t.settings ->> 'register' is distinct from 'true' or ${registered})
  returning g.trunk, g.uri`,
)

/** Shows this node's registrations to all, and keeps calls off gateways that nobody is registered at. */
export const createRegistrationReport = (options: ReportOptions): Service => {
  const { database, logger } = options
  let last = ''
  let repeating: Repeating | undefined
  const report = async (): Promise<void> => {
    const nodeId = options.nodeId()
    if (nodeId === undefined) return
    const told = JSON.stringify(
      options.registrations().map((each) => ({
        trunk: each.trunk,
        gateway: each.gateway,
        state: each.state,
        reason: each.reason ?? null,
        expires_at: each.expiresAt ?? null,
      })),
    )
    if (told !== last) await database.run(writeStatement, [nodeId, told])
    last = told
    for (const lost of await database.rows<Opened>(openStatement, [])) {
      const isFirst = lost.reason === 'The registration is under way.'
      if (!isFirst) logger.error({ ...lost }, 'a trunk is not registered: its calls wait')
    }
    for (const back of await database.rows<Omit<Opened, 'reason'>>(closeStatement, []))
      logger.info({ ...back }, 'a trunk is registered')
  }
  return {
    start: async () => {
      repeating ??= repeat({
        name: 'registrations',
        intervalMs: reportMs,
        work: report,
        time: systemTime,
        logger,
      })
    },
    stop: async () => {
      await repeating?.stop()
    },
  }
}

interface Opened {
  readonly trunk: string
  readonly uri: string
  readonly reason: string
}
