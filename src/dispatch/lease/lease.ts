import { sql, type Queryable } from '../../database/database.ts'
import type { LiveLack, RouteName } from '../../domains/organizations/organization-mode.ts'
import { newId } from '../../runtime/ids.ts'
import type { Clock } from '../../runtime/time.ts'

/** How long a node's calls stay its own without a renewal, by the database's clock. */
export const leaseMs = 8_000
export const renewIntervalMs = 2_000
/** We stop sending this long before the database would release our calls. */
const sendMarginMs = 1_000
/** How long a renewal lets us dial, by the monotonic clock, from the sending of its statement. */
export const heldMs = leaseMs - sendMarginMs

/**
 * A node's hold on all its calls: one row, renewed every two seconds, by the main thread and by the keeper's
 * (`lease-keeper.ts`). Either is enough.
 */
export interface Lease {
  /** New for each process, so that a restarted node is never confused with the dead one. */
  readonly nodeId: string
  /** False: this node was declared dead, and its calls were released. */
  renew(): Promise<boolean>
  /** By the monotonic clock, which includes the time of a paused process. */
  isHeld(): boolean
  setDraining(): Promise<void>
  /** Releases everything: remaining calls may be rescued at once. */
  release(): Promise<void>
}

const registerStatement = sql(
  'lease.register',
  `insert into nodes (id, lease_until, name, max_channels, routes, lacks, settings)
   values ($1, clock_timestamp() + $2 * interval '1 millisecond', $3, $4, $5, $6, $7)`,
)

const renewStatement = sql(
  'lease.renew',
  `update nodes
      set lease_until = clock_timestamp() + $2 * interval '1 millisecond'
    where id = $1
      and rescued_at is null`,
)

const drainStatement = sql(
  'lease.setDraining',
  `update nodes
      set draining = true
    where id = $1`,
)

const releaseStatement = sql(
  'lease.release',
  `update nodes
      set lease_until = least(lease_until, clock_timestamp())
    where id = $1`,
)

/** What a node publishes about itself. */
export interface NodeOffer {
  /** For people. */
  readonly name: string
  readonly maxChannels: number
  readonly routes: readonly RouteName[]
  readonly lacks: readonly LiveLack[]
  /** Its start settings, by name; nothing secret. */
  readonly settings?: Readonly<Record<string, string>>
}

/** Whether the lease was renewed; `false`: the node was declared dead. */
export const renewLease = async (db: Queryable, nodeId: string): Promise<boolean> =>
  (await db.run(renewStatement, [nodeId, leaseMs])) > 0

/** A renewal by another thread. */
interface KeptLease {
  isHeld(): boolean
}

/** Registers this process as a node. */
export const takeLease = async (
  db: Queryable,
  offer: NodeOffer,
  clock: Clock,
  kept?: KeptLease,
): Promise<Lease> => {
  const nodeId = newId()
  let heldUntilMs = 0
  let isOver = false
  // Read before the statement is sent: our end of the lease is never later than the database's.
  const extended = (sentAtMs: number): void => {
    heldUntilMs = sentAtMs + heldMs
  }
  const startedAtMs = clock.monotonicMs()
  await db.run(registerStatement, [
    nodeId,
    leaseMs,
    offer.name,
    offer.maxChannels,
    offer.routes,
    offer.lacks,
    offer.settings ?? {},
  ])
  extended(startedAtMs)
  return {
    nodeId,
    async renew() {
      const sentAtMs = clock.monotonicMs()
      const isOurs = await renewLease(db, nodeId)
      if (isOurs) extended(sentAtMs)
      else isOver = true
      return isOurs
    },
    isHeld: () => !isOver && (clock.monotonicMs() < heldUntilMs || kept?.isHeld() === true),
    async setDraining() {
      await db.run(drainStatement, [nodeId])
    },
    async release() {
      isOver = true
      await db.run(releaseStatement, [nodeId])
    },
  }
}
