import type { Database } from '../database/database.ts'
import type { EndCall } from '../domains/calls/lifecycle/end-call.ts'
import { cancellationsChannel } from '../domains/calls/cancel-call.ts'
import { callsChannel } from '../domains/calls/queue-call.ts'
import type { LiveLack, RouteName } from '../domains/organizations/organization-mode.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Service } from '../runtime/service.ts'
import { requestedCancellations } from './cancellations.ts'
import { takeClaimTurn } from './claim/claim-turn.ts'
import { dispatchCall } from './dispatch-call.ts'
import { keepForecasts } from '../domains/batches/forecast/keep-forecasts.ts'
import { feedBatches } from './feed-batches.ts'
import { wakeEnginelessCalls } from '../domains/calls/lifecycle/wake-engineless-calls.ts'
import { wakeNumberlessCalls } from '../domains/numbers/wake-numbers.ts'
import type { HasLiveEngine } from './gate.ts'
import { renewIntervalMs, takeLease, type Lease } from './lease/lease.ts'
import type { LeaseKeeper } from './lease/lease-keeper.ts'
import { createLiveCalls } from './live-calls.ts'
import { repeat, type Repeating } from '../runtime/repeating.ts'
import type { Telemetry } from '../runtime/telemetry.ts'
import { systemTime, type Time } from '../runtime/time.ts'
import type { PrepareCall } from '../domains/calls/lifecycle/hand-over.ts'
import { watchNumbers } from './numbers/watch-numbers.ts'
import { createSweep } from './sweep.ts'
import type { TrunkDesk } from './pacing/trunk-desk.ts'
import { configureRoute, type ServedRoute } from './pacing/route-pacing.ts'

/** Polling finds work whose hints were lost. */
const pollIntervalMs = 250
const sweepIntervalMs = 1_000
const batchIntervalMs = 1_000
const numberIntervalMs = 60_000
/** How long calls that were told to stop may take to hang up. */
const hangUpLimitMs = 10_000

export interface DispatcherOptions {
  readonly database: Database
  readonly prepareCall: PrepareCall
  readonly endCall: EndCall
  /** The name of this process, for operators; the fencing id is new at each start. */
  readonly nodeId: string
  /** Calls at once on this node, on any route; another node adds its own. */
  readonly maxChannels: number
  /** See `NodeOffer`. */
  readonly settings?: Readonly<Record<string, string>>
  /** Routes that this node serves, and the limits of each over all nodes. The first is served first. */
  readonly routes: readonly ServedRoute[]
  /** What calls of live organizations lack on this node, so that they wait. */
  readonly lacks?: readonly LiveLack[]
  /** Whether this node can hold calls of live organizations; by default all of them. */
  readonly hasLiveEngine?: HasLiveEngine
  /** Calls that this node's media can carry now, by default all: no call is claimed beyond it. */
  readonly mediaCapacity?: () => number
  /** See `DispatchCallOptions`. */
  readonly trunks?: TrunkDesk
  readonly time: Time
  readonly logger: Logger
  readonly telemetry?: Telemetry
  /** Renews the lease while this thread is stalled. */
  readonly leaseKeeper?: LeaseKeeper
}

/**
 * Decides when queued calls run on this node: claims them, takes them through the gate, runs them, reports
 * cancellations, and settles the calls of dead nodes. Any number of dispatchers share one database.
 */
export class Dispatcher implements Service {
  readonly #options: DispatcherOptions
  readonly #live = createLiveCalls(() => this.#claiming?.wake())
  readonly #listeners: { stop(): Promise<void> }[] = []
  readonly #background: Repeating[] = []
  #claiming: Repeating | undefined
  #renewing: Repeating | undefined
  #lease: Lease | undefined
  #starting: Promise<void> | undefined
  #draining: Promise<void> | undefined
  #stopping: Promise<void> | undefined
  #isOverloaded = false

  constructor(options: DispatcherOptions) {
    this.#options = options
  }

  start(): Promise<void> {
    return (this.#starting ??= this.#start())
  }

  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop())
  }

  /**
   * Claims no more, lets live calls continue for up to `limitMs`, or until `cutShort`, then tells the rest to hang
   * up.
   */
  drain(limitMs: number, cutShort?: AbortSignal): Promise<void> {
    return (this.#draining ??= this.#drain(limitMs, cutShort))
  }

  /** The fencing id of this process; undefined before its start. */
  nodeId(): string | undefined {
    return this.#lease?.nodeId
  }

  liveCalls(): number {
    return this.#live.size()
  }

  async #start(): Promise<void> {
    const { database, endCall, logger, time, routes, maxChannels } = this.#options
    for (const route of routes) await configureRoute(database, route)
    await wakeEnginelessCalls(database)
    await wakeNumberlessCalls(database)
    this.#lease = await this.#takeNewLease()
    const lease = (): Lease | undefined => this.#lease
    const sweep = createSweep({ ...this.#options, clock: time, live: this.#live, lease })
    this.#renewing = this.#repeat('lease', renewIntervalMs, () => this.#renewLease())
    this.#repeat('sweep', sweepIntervalMs, sweep)
    const cancelling = this.#repeat('cancellations', pollIntervalMs, () =>
      this.#deliverCancellations(),
    )
    this.#repeat('batches', batchIntervalMs, () => feedBatches(database, endCall))
    this.#repeat('forecasts', batchIntervalMs, () => keepForecasts(database))
    this.#repeat('numbers', numberIntervalMs, () => watchNumbers(database, logger))
    const claiming = this.#repeat('claim', pollIntervalMs, () => this.#claimTurn())
    this.#claiming = claiming
    this.#listeners.push(await database.listen(callsChannel, () => claiming.wake()))
    this.#listeners.push(await database.listen(cancellationsChannel, () => cancelling.wake()))
    const nodeId = this.#lease.nodeId
    logger.info({ node_id: nodeId, max_channels: maxChannels }, 'dispatcher started')
  }

  async #claimTurn(): Promise<number | void> {
    const { database, maxChannels } = this.#options
    const lease = this.#lease
    if (!lease?.isHeld()) return
    return takeClaimTurn({
      database,
      nodeId: lease.nodeId,
      routes: this.#routeNames(),
      freeChannels: () => Math.min(maxChannels, this.#mediaCapacity()) - this.#live.size(),
      start: (call) => {
        this.#options.telemetry?.count('outdial_calls_claimed_total')
        this.#live.add(call.callId, (signal) =>
          dispatchCall({ ...this.#options, lease }, call, signal),
        )
      },
    })
  }

  /** A call that the media refuses would be dialled and requeued repeatedly, so it waits in the queue. */
  #mediaCapacity(): number {
    const { mediaCapacity, maxChannels, logger } = this.#options
    const capacity = mediaCapacity?.() ?? Infinity
    const isFull = capacity < maxChannels && this.#live.size() >= capacity
    if (isFull && !this.#isOverloaded)
      logger.warn({ capacity }, 'the media is overloaded: calls wait')
    this.#isOverloaded = isFull || (this.#isOverloaded && capacity < maxChannels)
    return capacity
  }

  async #deliverCancellations(): Promise<void> {
    if (!this.#lease || this.#live.size() === 0) return
    const { database } = this.#options
    for (const callId of await requestedCancellations(database, this.#lease.nodeId)) {
      this.#live.abort(callId, 'cancel_requested')
    }
  }

  /** Declared dead: the calls belong to other nodes. They are hung up, and this process continues as a new node. */
  async #renewLease(): Promise<void> {
    if (!this.#lease || (await this.#lease.renew())) return
    const { nodeId } = this.#lease
    this.#options.logger.error(
      { node_id: nodeId },
      'this node was taken for dead, its calls are hung up',
    )
    this.#live.abortAll('lease_lost')
    await within(this.#live.settled(), hangUpLimitMs)
    this.#lease = await this.#takeNewLease()
  }

  async #takeNewLease(): Promise<Lease> {
    const { database, time, leaseKeeper, nodeId, maxChannels, settings, lacks } = this.#options
    const offer = {
      name: nodeId,
      maxChannels,
      ...(settings && { settings }),
      routes: this.#routeNames(),
      lacks: lacks ?? [],
    }
    const taken = await takeLease(database, offer, time, leaseKeeper)
    leaseKeeper?.keep(taken.nodeId, () => this.#renewing?.wake())
    return taken
  }

  async #drain(limitMs: number, cutShort?: AbortSignal): Promise<void> {
    const { logger } = this.#options
    await this.#starting
    await this.#claiming?.stop()
    // Only for operators: without a database, calls continue and are hung up the same way.
    await this.#lease?.setDraining().catch((error: unknown) => {
      logger.warn({ err: error }, 'the database was not told of the drain')
    })
    await within(this.#live.settled(), limitMs, cutShort)
    this.#live.abortAll('shutdown')
    await within(this.#live.settled(), hangUpLimitMs)
    const live = this.#live.size()
    if (live > 0) logger.error({ live }, 'calls did not hang up in time')
  }

  async #stop(): Promise<void> {
    const { logger, leaseKeeper } = this.#options
    await this.drain(0).catch((error: unknown) =>
      logger.error({ err: error }, 'dispatcher could not drain'),
    )
    await Promise.all([...this.#background, ...this.#listeners].map((part) => part.stop()))
    // Before the release, so that nothing renews the released lease.
    await leaseKeeper?.stop()
    // Without a database the lease simply expires.
    await this.#lease?.release().catch(() => undefined)
  }

  /** Goes on until the dispatcher stops. */
  #repeat(name: string, intervalMs: number, work: () => Promise<number | void>): Repeating {
    const { time, logger } = this.#options
    const repeating = repeat({ name, intervalMs, work, time, logger })
    this.#background.push(repeating)
    return repeating
  }

  #routeNames(): readonly RouteName[] {
    return this.#options.routes.map(({ name }) => name)
  }
}

/** Waits for the promise up to a limit. The drain limit is an operator's wall time, so it uses no manual clock. */
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
