import { Resolver as DnsResolver, lookup } from 'node:dns/promises'
import { protocolOf } from './resolver.ts'
import type { Destination } from '../message/destination.ts'
import { isAddress, type SipUri } from '../message/uri.ts'

/** All possible addresses of a SIP URI, of which `SipResolver` chooses one (RFC 3263 4). */
interface FoundAddresses {
  readonly destinations: readonly Destination[]
  /** The time to live from the name servers; `undefined` if they gave none. */
  readonly ttlSeconds: number | undefined
}

/** The DNS queries; tests supply their own. Each rejects for an unknown name. */
export interface AddressService {
  findServers(name: string): Promise<readonly { readonly name: string; readonly port: number }[]>
  /** By DNS, with the time to live. */
  findRecords(host: string): Promise<readonly { readonly address: string; readonly ttl: number }[]>
  /** By the system's resolver, including the hosts file. */
  findHosts(host: string): Promise<readonly string[]>
}

export type FindAddresses = (uri: SipUri) => Promise<FoundAddresses>

// The maximum number of servers of one SRV name, and of addresses in all.
const maxServers = 32
const maxDestinations = 256

/** Rejects if the name has no address at all. */
export const createAddressFinder =
  (family: 4 | 6, service: AddressService = createSystemService(family)): FindAddresses =>
  async (uri) => {
    const protocol = protocolOf(uri)
    const defaultPort = protocol === 'tls' ? 5061 : 5060
    if (isAddress(uri.host)) {
      const destination = { protocol, address: uri.host, port: uri.port ?? defaultPort }
      return { destinations: [destination], ttlSeconds: Infinity }
    }
    const servers = await findServers(service, uri, protocol)
    const own = { name: uri.host, port: uri.port ?? defaultPort }
    // The host itself counts beside its servers, because some carriers send from there.
    const found = await Promise.all(
      [...servers, own].map(async ({ name, port }) => {
        const { addresses, ttls } = await addressesOf(service, name)
        return { ttls, places: addresses.map((address) => ({ protocol, address, port })) }
      }),
    )
    const destinations = found.flatMap(({ places }) => places).slice(0, maxDestinations)
    if (destinations.length === 0) throw new Error(`${uri.host} has no address`)
    const ttls = found.flatMap((each) => each.ttls)
    return { destinations, ttlSeconds: ttls.length === 0 ? undefined : Math.min(...ttls) }
  }

const findServers = async (
  service: AddressService,
  { host, port }: SipUri,
  protocol: Destination['protocol'],
): Promise<readonly { readonly name: string; readonly port: number }[]> => {
  if (port !== undefined || !host.includes('.')) return []
  const name = { udp: '_sip._udp', tcp: '_sip._tcp', tls: '_sips._tcp' }[protocol]
  const servers = await service.findServers(`${name}.${host}`).catch(() => [])
  return servers.slice(0, maxServers)
}

const addressesOf = async (
  service: AddressService,
  name: string,
): Promise<{ addresses: readonly string[]; ttls: readonly number[] }> => {
  const [records, hosts] = await Promise.all([
    service.findRecords(name).catch(() => []),
    service.findHosts(name).catch(() => []),
  ])
  const addresses = new Set([...records.map(({ address }) => address), ...hosts])
  return { addresses: [...addresses], ttls: records.map(({ ttl }) => ttl) }
}

const createSystemService = (family: 4 | 6): AddressService => {
  const dns = new DnsResolver({ timeout: 1000, tries: 2 })
  return {
    findServers: (name) => dns.resolveSrv(name),
    findRecords: (host) =>
      family === 4 ? dns.resolve4(host, { ttl: true }) : dns.resolve6(host, { ttl: true }),
    findHosts: async (host) =>
      (await lookup(host, { family, all: true })).map(({ address }) => address),
  }
}
