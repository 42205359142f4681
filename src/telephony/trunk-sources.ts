import type { BlockList } from 'node:net'
import { isIPv6 } from 'node:net'
import { systemTime, type Time } from '../runtime/time.ts'
import { canonicalAddress } from '../runtime/ip-address.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Service } from '../runtime/service.ts'
import type { FindAddresses } from '../sip/transport/find-addresses.ts'
import type { SipSources } from '../sip/gate/sources.ts'
import type { Destination } from '../sip/transport/transport.ts'
import { parseSipUri } from '../sip/message/uri.ts'
import { trunkTarget, type Trunk } from './trunk-uri.ts'

export interface TrunkSourcesOptions {
  readonly findAddresses: FindAddresses
  /** Networks that are listened to beside the trunks. */
  readonly allow: BlockList
  readonly logger: Logger
  readonly time?: Time
}

/** The addresses of every trunk, kept current: whom the user agent listens to. */
export interface TrunkSources extends SipSources, Service {
  /** Replaces the set of trunks while calls go on; resolves when the new ones were looked up once. */
  setTrunks(trunks: readonly Trunk[]): Promise<void>
  /** Every address now known of a trunk. */
  addressesOf(trunk: Trunk): readonly string[]
  /** Whether this address and port are the trunk's own: where its credentials may go. */
  belongsTo(trunk: Trunk, destination: Destination): boolean
}

interface Entry {
  readonly target: string
  /** When each address, with its ports, was last given by the name servers. */
  readonly seen: Map<string, { ports: Set<number>; atMs: number }>
  cancelRefresh: (() => void) | undefined
  isGone: boolean
}

/** Carriers give out a part of their pool at a time; an address stays ours for the longest call. */
const keptMs = 60 * 60_000
const maxRefreshMs = 60_000
const minRefreshMs = 5_000
/** Names are looked up again before they expire. */
const refreshShare = 0.8
/** How long a start or a change waits for names. */
const lookupLimitMs = 5_000

export const createTrunkSources = (options: TrunkSourcesOptions): TrunkSources => {
  const time = options.time ?? systemTime
  const entries = new Map<string, Entry>()

  const remember = (entry: Entry, destinations: readonly Destination[]): void => {
    const nowMs = time.monotonicMs()
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

  /** What is known stays where DNS fails: a name server that is away must not cut the line off. */
  const refresh = async (entry: Entry): Promise<void> => {
    let afterMs = maxRefreshMs
    try {
      const uri = parseSipUri(entry.target)
      if (uri === undefined) throw new Error('the trunk cannot be read')
      const { destinations, ttlSeconds } = await options.findAddresses(uri)
      remember(entry, destinations)
      if (ttlSeconds === Infinity) return
      const dueMs = (ttlSeconds ?? Infinity) * 1000 * refreshShare
      afterMs = Math.min(maxRefreshMs, Math.max(minRefreshMs, dueMs))
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      options.logger.warn(
        { reason, addresses_kept: entry.seen.size },
        'the addresses of a trunk could not be looked up',
      )
    }
    if (entry.isGone) return
    entry.cancelRefresh = time.after(afterMs, () => void refresh(entry))
  }

  const add = (target: string): Promise<void> => {
    const entry: Entry = { target, seen: new Map(), cancelRefresh: undefined, isGone: false }
    entries.set(target, entry)
    return refresh(entry)
  }

  const drop = (entry: Entry): void => {
    entry.isGone = true
    entry.cancelRefresh?.()
    entries.delete(entry.target)
  }

  const setTrunks = async (trunks: readonly Trunk[]): Promise<void> => {
    const targets = new Set(trunks.map((trunk) => trunkTarget(trunk)))
    for (const entry of entries.values()) if (!targets.has(entry.target)) drop(entry)
    const added = [...targets].filter((target) => !entries.has(target)).map(add)
    const { promise: patience, resolve } = Promise.withResolvers<void>()
    const cancelPatience = systemTime.after(lookupLimitMs, resolve)
    await Promise.race([Promise.all(added), patience])
    cancelPatience()
  }

  const knows = (address: string): boolean => {
    for (const { seen } of entries.values()) if (seen.has(address)) return true
    return false
  }

  return {
    setTrunks,
    start: async () => {},
    stop: async () => {
      for (const entry of entries.values()) drop(entry)
    },
    admits: ({ address: written }) => {
      const address = canonicalAddress(written)
      return knows(address) || options.allow.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
    },
    areOneTrunk: (a, b) => {
      const [one, other] = [canonicalAddress(a.address), canonicalAddress(b.address)]
      for (const { seen } of entries.values()) if (seen.has(one) && seen.has(other)) return true
      return false
    },
    addressesOf: (trunk) => [...(entries.get(trunkTarget(trunk))?.seen.keys() ?? [])],
    belongsTo: (trunk, { address, port }) =>
      entries.get(trunkTarget(trunk))?.seen.get(canonicalAddress(address))?.ports.has(port) ??
      false,
  }
}
