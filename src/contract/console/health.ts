import { z } from 'zod'
import { op } from '../define-operation.ts'
import { count, dateTime } from '../fields.ts'
import { reads } from './least-role.ts'

const node = z.strictObject({
  name: z.string(),
  state: z.enum(['running', 'draining', 'lost']),
  started_at: dateTime,
  /** Until then its calls are its own; past for a lost one. */
  lease_until: dateTime,
  /** Seconds that the lease has left; negative once it lapsed. */
  lease_seconds: z.number(),
  live_calls: count,
  max_calls: count,
  /** Ways to a phone that it serves. */
  routes: z.array(z.string()),
  /** What live organizations wait for on it. */
  lacks: z.array(z.string()),
})

/** A gateway of a trunk. */
const trunk = z.strictObject({
  name: z.string(),
  /** Its address, without user and password. */
  gateway: z.string(),
  paused: z.boolean(),
  circuit: z.enum(['closed', 'open']),
  down_since: dateTime.nullable(),
  reason: z.string().nullable(),
  /** When a call tries an open one at the latest. */
  retry_at: dateTime.nullable(),
  /** Of the whole trunk, as the next. */
  live_calls: count,
  /** Null: as many as the nodes hold. */
  max_calls: count.nullable(),
})

const health = z.strictObject({
  /** Of the doctor. */
  findings: z.array(
    z.strictObject({
      check: z.string(),
      status: z.enum(['ok', 'warning', 'failed']),
      message: z.string(),
    }),
  ),
  examined_at: dateTime,
  nodes: z.array(node),
  trunks: z.array(trunk),
  queue: z.strictObject({
    /** Of all organizations; at `counted_up_to` counting ends. */
    calls: count,
    counted_up_to: count,
    oldest_queued_at: dateTime.nullable(),
    /** Jobs after calls that are due: recordings, summaries, housekeeping. */
    jobs: count,
  }),
  database: z.strictObject({
    size_bytes: count,
    connections: count,
    max_connections: count,
    /** The newest migration. */
    level: z.string(),
  }),
})

/** What the installation is at. */
export type Health = z.output<typeof health>

/** Of the installation, and not of one organization. */
export const healthOperations = {
  getHealth: op('GET /console/system/health', {
    ...reads('viewer'),
    ofInstallation: true,
    response: health,
  }),
} as const
