import type { BlockList } from 'node:net'
import { isIPv6 } from 'node:net'
import { systemTime, type Time } from '../runtime/time.ts'
import { canonicalAddress } from '../runtime/ip-address.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Service } from '../runtime/service.ts'
import type { FindAddresses } from '../sip/transport/find-addresses.ts'
import type { SipSources } from '../sip/gate/sources.ts'
import type { Destination } from '../sip/message/destination.ts'
import { parseSipUri } from '../sip/message/uri.ts'
import { trunkTarget, type Trunk } from './trunk-uri.ts'

interface TrunkSourcesOptions {
  readonly findAddresses: FindAddresses
  /** Accepted networks beside the trunks. */
  readonly allow: BlockList
  readonly logger: Logger
  readonly time?: Time
}

interface Entry {
  readonly target: string
  /** When the name servers last returned each address, with its ports. */
  readonly seen: Map<string, { ports: Set<number>; atMs: number }>
  cancelRefresh: (() => void) | undefined
  isGone: boolean
}

/** Carriers return a part of their pool at a time; an address stays accepted for the longest call. */
const keptMs = 60 * 60_000
const maxRefreshMs = 60_000
const minRefreshMs = 5_000
/** Names are looked up again before they expire. */
const refreshShare = 0.8
/** How long a start or a change waits for names. */
const lookupLimitMs = 5_000

/** The current addresses of every trunk: the sources that the user agent accepts. */
export class TrunkSources implements SipSources, Service {
  readonly #options: TrunkSourcesOptions
  readonly #time: Time
  readonly #entries = new Map<string, Entry>()

  constructor(options: TrunkSourcesOptions) {
    this.#options = options
    this.#time = options.time ?? systemTime
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    for (const entry of this.#entries.values()) this.#drop(entry)
  }

  /** Replaces the set of trunks while calls go on; resolves when the new ones were looked up once. */
  async setTrunks(trunks: readonly Trunk[]): Promise<void> {
    const targets = new Set(trunks.map((trunk) => trunkTarget(trunk)))
    for (const entry of this.#entries.values()) if (!targets.has(entry.target)) this.#drop(entry)
    const missing = [...targets].filter((target) => !this.#entries.has(target))
    const added = missing.map((target) => this.#add(target))
    const { promise: patience, resolve } = Promise.withResolvers<void>()
    const cancelPatience = systemTime.after(lookupLimitMs, resolve)
    await Promise.race([Promise.all(added), patience])
    cancelPatience()
  }

  admits({ address: written }: Destination): boolean {
    const address = canonicalAddress(written)
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    return this.#knows(address) || this.#options.allow.check(address, family)
  }

  areOneTrunk(a: Destination, b: Destination): boolean {
    const [one, other] = [canonicalAddress(a.address), canonicalAddress(b.address)]
    for (const { seen } of this.#entries.values()) if (seen.has(one) && seen.has(other)) return true
    return false
  }

  /** Every known address of a trunk. */
  addressesOf(trunk: Trunk): readonly string[] {
    return [...(this.#entries.get(trunkTarget(trunk))?.seen.keys() ?? [])]
  }

  /** Whether this address and port belong to the trunk: its credentials may go there. */
  belongsTo(trunk: Trunk, { address, port }: Destination): boolean {
    const seen = this.#entries.get(trunkTarget(trunk))?.seen.get(canonicalAddress(address))
    return seen?.ports.has(port) ?? false
  }

  /** Whether this address is one of the trunk's, on any port. */
  hasAddress(trunk: Trunk, { address }: Destination): boolean {
    return this.#entries.get(trunkTarget(trunk))?.seen.has(canonicalAddress(address)) ?? false
  }

  #knows(address: string): boolean {
    for (const { seen } of this.#entries.values()) if (seen.has(address)) return true
    return false
  }

  #add(target: string): Promise<void> {
    const entry: Entry = { target, seen: new Map(), cancelRefresh: undefined, isGone: false }
    this.#entries.set(target, entry)
    return this.#refresh(entry)
  }

  #drop(entry: Entry): void {
    entry.isGone = true
    entry.cancelRefresh?.()
    this.#entries.delete(entry.target)
  }

  /** Known addresses stay while DNS fails: a missing name server must not cut the line off. */
  async #refresh(entry: Entry): Promise<void> {
    let afterMs = maxRefreshMs
    try {
      const uri = parseSipUri(entry.target)
      if (uri === undefined) throw new Error('the trunk cannot be read')
      const { destinations, ttlSeconds } = await this.#options.findAddresses(uri)
      remember(entry, destinations, this.#time.monotonicMs())
      if (ttlSeconds === Infinity) return
      const dueMs = (ttlSeconds ?? Infinity) * 1000 * refreshShare
      afterMs = Math.min(maxRefreshMs, Math.max(minRefreshMs, dueMs))
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      this.#options.logger.warn(
        { reason, addresses_kept: entry.seen.size },
        'the addresses of a trunk could not be looked up',
      )
    }
    if (entry.isGone) return
    entry.cancelRefresh = this.#time.after(afterMs, () => void this.#refresh(entry))
  }
}

const remember = (entry: Entry, destinations: readonly Destination[], nowMs: number): void => {
  for (const { address: written, port } of destinations) {
    const address = canonicalAddress(written)
    const known = entry.seen.get(address) ?? { ports: new Set<number>(), atMs: nowMs }
    known.atMs = nowMs
    known.ports.add(port)
    entry.seen.set(address, known)
  }
  for (const [address, { atMs }] of entry.seen)
    if (nowMs - atMs > keptMs) entry.seen.delete(address)
}
