import type { Config } from '../../config/read-config.ts'
import type { Health } from '../../contract/console/health.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import type { Database, Queryable } from '../../database/database.ts'
import type { Clock } from '../../runtime/time.ts'
import { examine } from '../doctor/examine.ts'
import { failed, type Finding } from '../doctor/finding.ts'
import {
  listNodes,
  listGatewayStates,
  maxCounted,
  readDatabase,
  readQueue,
} from './health-store.ts'

/** The doctor asks trunk and AI providers: not more often than this, however many look. */
const examineEveryMs = 30_000
/** The figures of the database. */
const readEveryMs = 2_000
/** The doctor's own limits are shorter. */
const examineLimitMs = 20_000

interface HealthOptions {
  readonly config: Config
  readonly database: Database
  readonly clock: Clock
}

/** What the installation is at: the doctor's findings, nodes, trunks, queue and database. Asked at once, all share one look. */
export const createHealth = ({ config, database, clock }: HealthOptions) => {
  const look = () => examine(config, (work) => work(database))
  const findings = shared(clock, examineEveryMs, async () => ({
    found: await within(examineLimitMs, look()),
    at: clock.now(),
  }))
  return shared(clock, readEveryMs, async () => {
    const { found, at } = await findings()
    return healthOf(database, found, at)
  })
}

/** With findings of the doctor from that time. */
export const healthOf = async (
  db: Queryable,
  findings: readonly Finding[],
  examinedAt: Date,
): Promise<Health> => {
  const [nodes, trunks, queue, database] = await Promise.all([
    listNodes(db),
    listGatewayStates(db),
    readQueue(db),
    readDatabase(db),
  ])
  return {
    findings: findings.map((finding) => ({ ...finding })),
    examined_at: formatDateTime(examinedAt),
    nodes: nodes.map((node) => ({
      name: node.name,
      state: node.lease_seconds < 0 ? 'lost' : node.draining ? 'draining' : 'running',
      started_at: formatDateTime(node.started_at),
      lease_until: formatDateTime(node.lease_until),
      lease_seconds: Math.round(node.lease_seconds * 10) / 10,
      live_calls: node.live_calls,
      max_calls: node.max_channels,
      routes: node.routes,
      lacks: node.lacks,
    })),
    trunks: trunks.map((trunk) => ({
      name: trunk.name,
      gateway: trunk.uri,
      circuit: trunk.down_since ? 'open' : 'closed',
      paused: trunk.paused,
      down_since: trunk.down_since && formatDateTime(trunk.down_since),
      reason: trunk.down_reason,
      retry_at: trunk.retry_at && formatDateTime(trunk.retry_at),
      live_calls: trunk.live_calls,
      max_calls: trunk.channels,
    })),
    queue: {
      calls: queue?.calls ?? 0,
      counted_up_to: maxCounted,
      oldest_queued_at: queue?.oldest_queued_at ? formatDateTime(queue.oldest_queued_at) : null,
      jobs: queue?.jobs ?? 0,
    },
    database: {
      size_bytes: database?.size_bytes ?? 0,
      connections: database?.connections ?? 0,
      max_connections: database?.max_connections ?? 0,
      level: database?.level ?? '',
    },
  }
}

/** One look at a time, whose answer counts for a while; a failed one counts for nobody after those who waited. */
const shared = <T>(
  clock: Pick<Clock, 'monotonicMs'>,
  everyMs: number,
  look: () => Promise<T>,
): (() => Promise<T>) => {
  let latest: { readonly atMs: number; readonly answer: Promise<T> } | undefined
  let running: Promise<T> | undefined
  return () => {
    if (running) return running
    if (latest && clock.monotonicMs() - latest.atMs < everyMs) return latest.answer
    running = look().then(
      (value) => {
        latest = { atMs: clock.monotonicMs(), answer: Promise.resolve(value) }
        running = undefined
        return value
      },
      (error: unknown) => {
        running = undefined
        throw error
      },
    )
    return running
  }
}

/** The findings, or one that says that they took too long. */
const within = async (limitMs: number, look: Promise<Finding[]>): Promise<Finding[]> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Finding[]>((resolve) => {
    const told = `The checks took longer than ${limitMs / 1000} s: run \`./outdial doctor\` on this machine.`
    timer = setTimeout(() => resolve([failed('doctor', told)]), limitMs).unref()
  })
  try {
    return await Promise.race([look, late])
  } finally {
    clearTimeout(timer)
  }
}
