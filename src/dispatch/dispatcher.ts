import type { Database } from '../database/database.ts'
import type { EndCall } from '../domains/calls/lifecycle/end-call.ts'
import { cancellationsChannel } from '../domains/calls/cancel-call.ts'
import { callsChannel } from '../domains/calls/queue-call.ts'
import type { LiveLack } from '../domains/organizations/organization-mode.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Service } from '../runtime/service.ts'
import { requestedCancellations } from './cancellations.ts'
import { takeClaimTurn } from './claim/claim-turn.ts'
import { dispatchCall } from './dispatch-call.ts'
import { feedBatches } from './feed-batches.ts'
import { wakeEnginelessCalls } from '../domains/calls/lifecycle/wake-engineless-calls.ts'
import type { HasLiveEngine } from './gate.ts'
import { renewIntervalMs, takeLease, type Lease } from './lease/lease.ts'
import type { LeaseKeeper } from './lease/lease-keeper.ts'
import { createLiveCalls } from './live-calls.ts'
import { repeat, type Repeating } from '../runtime/repeating.ts'
import { systemTime, type Time } from '../runtime/time.ts'
import type { PrepareCall } from './run-call-port.ts'
import { createSweep } from './sweep.ts'
import { configureRoute, type ServedRoute } from './pacing/route-pacing.ts'

/** The truth, where hints are lost. */
const pollIntervalMs = 250
const sweepIntervalMs = 1_000
const batchIntervalMs = 1_000
/** How long calls that were told to stop may take to hang up. */
const hangUpLimitMs = 10_000

export interface DispatcherOptions {
  readonly database: Database
  readonly prepareCall: PrepareCall
  readonly endCall: EndCall
  /** Of this process, for whoever looks; the id that fences is made anew at each start. */
  readonly nodeId: string
  /** Calls at once on this node, whatever their route; another node adds its own. */
  readonly maxChannels: number
  /** See `NodeOffer`. */
  readonly settings?: Readonly<Record<string, string>>
  /** Routes that this node serves, and what each takes over all nodes. The first is served first. */
  readonly routes: readonly ServedRoute[]
  /** What calls of live organizations lack on this node, so that they wait. */
  readonly lacks?: readonly LiveLack[]
  /** Whether calls of live organizations can be held here; all of them if not given. */
  readonly hasLiveEngine?: HasLiveEngine
  /** Calls that this node's media carries as things are, all of them if not given: no call is claimed beyond it. */
  readonly mediaCapacity?: () => number
  readonly time: Time
  readonly logger: Logger
  /** Renews the lease while this thread is stalled. */
  readonly leaseKeeper?: LeaseKeeper
}

export interface Dispatcher extends Service {
  /** Claims no more, lets live calls go on for up to `limitMs`, or until `cutShort`, then tells the rest to hang up. */
  drain(limitMs: number, cutShort?: AbortSignal): Promise<void>
  liveCalls(): number
}

/**
 * Decides when queued calls run on this node: claims them, passes them through the gate, runs them, tells them
 * of cancellations, and settles whatever a dead node left behind. Any number of dispatchers share one database.
 */
export const createDispatcher = (options: DispatcherOptions): Dispatcher => {
  const { database, logger, time, leaseKeeper } = options
  const live = createLiveCalls(() => claiming?.wake())
  const listeners: { stop(): Promise<void> }[] = []
  const background: Repeating[] = []
  let claiming: Repeating | undefined
  let renewing: Repeating | undefined
  let lease: Lease | undefined
  let starting: Promise<void> | undefined
  let draining: Promise<void> | undefined
  let isOverloaded = false
  let stopping: Promise<void> | undefined
  const offer = {
    name: options.nodeId,
    maxChannels: options.maxChannels,
    ...(options.settings && { settings: options.settings }),
    routes: options.routes.map(({ name }) => name),
    lacks: options.lacks ?? [],
  }

  const loop = (name: string, intervalMs: number, work: () => Promise<number | void>): Repeating =>
    repeat({ name, intervalMs, work, time, logger })

  /** A call that the media refuses would be dialled and put back again and again: it had better wait where it is. */
  const mediaCapacity = (): number => {
    const capacity = options.mediaCapacity?.() ?? Infinity
    const isFull = capacity < options.maxChannels && live.size() >= capacity
    if (isFull && !isOverloaded) logger.warn({ capacity }, 'the media is overloaded: calls wait')
    isOverloaded = isFull || (isOverloaded && capacity < options.maxChannels)
    return capacity
  }

  const claimTurn = async (held: Lease): Promise<number | void> => {
    if (!held.isHeld()) return
    return takeClaimTurn({
      database,
      nodeId: held.nodeId,
      routes: offer.routes,
      freeChannels: () => Math.min(options.maxChannels, mediaCapacity()) - live.size(),
      start: (call) =>
        live.add(call.callId, (signal) => dispatchCall({ ...options, lease: held }, call, signal)),
    })
  }

  const deliverCancellations = async (): Promise<void> => {
    if (!lease || live.size() === 0) return
    for (const callId of await requestedCancellations(database, lease.nodeId)) {
      live.abort(callId, 'cancel_requested')
    }
  }

  /** Declared dead: the calls are no longer ours. They are hung up, and this process goes on as a new node. */
  const renewLease = async (): Promise<void> => {
    if (!lease || (await lease.renew())) return
    logger.error({ node_id: lease.nodeId }, 'this node was taken for dead, its calls are hung up')
    live.abortAll('lease_lost')
    await within(live.settled(), hangUpLimitMs)
    lease = await takeNewLease()
  }

  const takeNewLease = async (): Promise<Lease> => {
    const taken = await takeLease(database, offer, time, leaseKeeper)
    leaseKeeper?.keep(taken.nodeId, () => renewing?.wake())
    return taken
  }

  const start = async (): Promise<void> => {
    for (const route of options.routes) await configureRoute(database, route)
    await wakeEnginelessCalls(database)
    lease = await takeNewLease()
    const sweep = createSweep({
      ...options,
      clock: options.time,
      live,
      lease: () => lease,
    })
    renewing = loop('lease', renewIntervalMs, renewLease)
    background.push(renewing)
    background.push(loop('sweep', sweepIntervalMs, sweep))
    const cancelling = loop('cancellations', pollIntervalMs, deliverCancellations)
    background.push(cancelling)
    background.push(loop('batches', batchIntervalMs, () => feedBatches(database, options.endCall)))
    claiming = loop('claim', pollIntervalMs, async () => (lease ? claimTurn(lease) : undefined))
    listeners.push(await database.listen(callsChannel, () => claiming?.wake()))
    listeners.push(await database.listen(cancellationsChannel, () => cancelling.wake()))
    logger.info({ node_id: lease.nodeId, max_channels: options.maxChannels }, 'dispatcher started')
  }

  const drain = async (limitMs: number, cutShort?: AbortSignal): Promise<void> => {
    await starting
    await claiming?.stop()
    // Only a note for whoever looks: calls go on and are hung up the same where the database is away.
    await lease?.setDraining().catch((error: unknown) => {
      logger.warn({ err: error }, 'the database was not told of the drain')
    })
    await within(live.settled(), limitMs, cutShort)
    live.abortAll('drain')
    await within(live.settled(), hangUpLimitMs)
    if (live.size() > 0) logger.error({ live: live.size() }, 'calls did not hang up in time')
  }

  const stop = async (): Promise<void> => {
    await (draining ??= drain(0)).catch((error: unknown) =>
      logger.error({ err: error }, 'dispatcher could not drain'),
    )
    await Promise.all([...background, ...listeners].map((part) => part.stop()))
    // Before the release: nothing may renew what was given back.
    await leaseKeeper?.stop()
    // A database that is away finds out by itself: the lease runs out.
    await lease?.release().catch(() => undefined)
  }

  return {
    start: () => (starting ??= start()),
    stop: () => (stopping ??= stop()),
    drain: (limitMs, cutShort) => (draining ??= drain(limitMs, cutShort)),
    liveCalls: () => live.size(),
  }
}

/** Waits for the promise, but not longer. The drain limit is wall time of an operator, so no clock is turned here. */
const within = async (
  promise: Promise<void>,
  limitMs: number,
  cutShort?: AbortSignal,
): Promise<void> => {
  const limit = new AbortController()
  const stops = cutShort ? [limit.signal, cutShort] : [limit.signal]
  await Promise.race([promise, systemTime.sleep(limitMs, AbortSignal.any(stops))])
  limit.abort()
}
