import { addressesOf, createSystemNameService, type NameService } from './name-service.ts'
import { defaultPortOf, protocolOf, serverNames } from './server-names.ts'
import type { Destination } from '../message/destination.ts'
import { isAddress, type SipUri } from '../message/uri.ts'

/** All possible addresses of a SIP URI, of which `SipResolver` makes the order of trial (RFC 3263 4). */
interface FoundAddresses {
  readonly destinations: readonly Destination[]
  /** The time to live from the name servers; `undefined` if they gave none. */
  readonly ttlSeconds: number | undefined
}

export type FindAddresses = (uri: SipUri) => Promise<FoundAddresses>

const maxDestinations = 256

/** Rejects if the name has no address at all. */
export const createAddressFinder =
  (family: 4 | 6, names: NameService = createSystemNameService()): FindAddresses =>
  async (uri) => {
    const protocol = protocolOf(uri)
    const port = uri.port ?? defaultPortOf(protocol)
    if (isAddress(uri.host))
      return { destinations: [{ protocol, address: uri.host, port }], ttlSeconds: Infinity }
    const servers = await serverNames(names, uri)
    // The host itself counts beside its servers, because some carriers send from there.
    const own = { protocol, host: uri.host, port }
    const found = await Promise.all(
      [...servers.filter(({ host }) => host !== uri.host), own].map(async (server) => {
        const { addresses, ttlSeconds } = await addressesOf(names, server.host, [family])
        const places = addresses.map((address) => ({
          protocol: server.protocol,
          address,
          port: server.port,
        }))
        return { ttlSeconds, places }
      }),
    )
    const destinations = found.flatMap(({ places }) => places).slice(0, maxDestinations)
    if (destinations.length === 0) throw new Error(`${uri.host} has no address`)
    const ttls = found.flatMap(({ ttlSeconds }) => (ttlSeconds === undefined ? [] : [ttlSeconds]))
    return { destinations, ttlSeconds: ttls.length === 0 ? undefined : Math.min(...ttls) }
  }
