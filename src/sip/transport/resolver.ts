import { isIP } from 'node:net'
import { BoundedMap } from '../../runtime/bounded-map.ts'
import type { Clock } from '../../runtime/time.ts'
import type { Destination, TransportProtocol } from '../message/destination.ts'
import { isAddress, type SipUri } from '../message/uri.ts'
import { addressesOf, createSystemNameService, type NameService } from './name-service.ts'
import {
  defaultPortOf,
  orderServers,
  protocolOf,
  serverNames,
  type ServerName,
} from './server-names.ts'

/** Finds the next hops of a SIP URI (RFC 3263 4). */
export interface SipResolver {
  /** Every address, in the order in which they are tried. Rejects with an `Error` if the name has none. */
  locate(uri: SipUri): Promise<readonly Destination[]>
}

interface ResolverOptions {
  readonly names?: NameService
  readonly clock?: Pick<Clock, 'monotonicMs'>
  /** In [0, 1): the lots of SRV's weights. */
  readonly random?: () => number
}

interface Found {
  readonly servers: readonly { readonly name: ServerName; readonly addresses: readonly string[] }[]
  readonly atMs: number
  readonly freshMs: number
}

const maxNames = 1024
const maxDestinations = 64
/** Limits of the time to live: not a query per call, and no outage because of an hour-old address. */
const minFreshMs = 5_000
const maxFreshMs = 60_000
/** While the name servers are silent, the last addresses count for this long. */
const staleMs = 10 * 60_000

/** `family` is the IP version of our UDP socket; streams use both. */
export const createResolver = (family: 4 | 6, options: ResolverOptions = {}): SipResolver => {
  const {
    names = createSystemNameService(),
    clock = { monotonicMs: () => performance.now() },
    random = Math.random,
  } = options
  const known = new BoundedMap<string, Found>({ maxSize: maxNames })
  const underWay = new Map<string, Promise<Found>>()
  const familiesOf = (protocol: TransportProtocol): readonly (4 | 6)[] =>
    protocol === 'udp' ? [family] : [family, family === 4 ? 6 : 4]

  const ask = async (uri: SipUri): Promise<Found> => {
    const servers = await serverNames(names, uri)
    const ttls: number[] = []
    const found = await Promise.all(
      servers.map(async (name) => {
        if (isAddress(name.host)) return { name, addresses: [name.host] }
        const families = familiesOf(name.protocol)
        const { addresses, ttlSeconds } = await addressesOf(names, name.host, families)
        if (ttlSeconds !== undefined) ttls.push(ttlSeconds)
        return { name, addresses }
      }),
    )
    if (found.every(({ addresses }) => addresses.length === 0))
      throw new Error(`${uri.host} has no address (DNS)`)
    const ttlMs = ttls.length === 0 ? maxFreshMs : Math.min(...ttls) * 1000
    return {
      servers: found,
      atMs: clock.monotonicMs(),
      freshMs: Math.min(maxFreshMs, Math.max(minFreshMs, ttlMs)),
    }
  }

  const find = async (uri: SipUri): Promise<Found> => {
    const key = keyOf(uri)
    const last = known.get(key)
    if (last !== undefined && clock.monotonicMs() - last.atMs < last.freshMs) return last
    const asking = underWay.get(key) ?? ask(uri).finally(() => underWay.delete(key))
    underWay.set(key, asking)
    try {
      const found = await asking
      known.set(key, found)
      return found
    } catch (error) {
      if (last === undefined || clock.monotonicMs() - last.atMs > staleMs) throw error
      return last
    }
  }

  return {
    locate: async (uri) => {
      if (isAddress(uri.host)) return [addressed(uri, family)]
      const { servers } = await find(uri)
      const ordered = orderServers(
        servers.map(({ name }) => name),
        random,
      )
      const destinations = ordered.flatMap((name) => {
        const { addresses = [] } = servers.find((each) => each.name === name) ?? {}
        // A certificate is checked against the name that the administrator wrote, never against one from DNS
        // (RFC 5922 4).
        const { protocol, port } = name
        return addresses.map((address) => ({ protocol, address, port, serverName: uri.host }))
      })
      return destinations.slice(0, maxDestinations)
    },
  }
}

const keyOf = (uri: SipUri): string =>
  `${uri.scheme} ${uri.host.toLowerCase()} ${uri.port ?? ''} ${uri.parameters.get('transport') ?? ''}`

const addressed = (uri: SipUri, family: 4 | 6): Destination => {
  const protocol = protocolOf(uri)
  if (protocol === 'udp' && isIP(uri.host) !== family)
    throw new Error(`the address is not of IP version ${family}`)
  return { protocol, address: uri.host, port: uri.port ?? defaultPortOf(protocol) }
}
