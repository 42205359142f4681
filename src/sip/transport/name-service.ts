import { Resolver as DnsResolver, lookup } from 'node:dns/promises'
import type { NaptrRecord, SrvRecord } from 'node:dns'

/** The DNS queries of RFC 3263; tests supply their own. Each rejects for an unknown name. */
export interface NameService {
  findPointers(host: string): Promise<readonly NaptrRecord[]>
  findServers(name: string): Promise<readonly SrvRecord[]>
  /** By DNS, with the time to live. */
  findRecords(
    host: string,
    family: 4 | 6,
  ): Promise<readonly { readonly address: string; readonly ttl: number }[]>
  /** By the system's resolver, including the hosts file. */
  findHosts(host: string, family: 4 | 6): Promise<readonly string[]>
}

const lookupTimeoutMs = 5000

/** `servers`: name servers in place of the system's, `192.0.2.1:53`. */
export const createSystemNameService = (servers?: readonly string[]): NameService => {
  const dns = new DnsResolver({ timeout: 1000, tries: 2 })
  if (servers !== undefined) dns.setServers(servers)
  return {
    findPointers: (host) => dns.resolveNaptr(host),
    findServers: (name) => dns.resolveSrv(name),
    findRecords: (host, family) =>
      family === 4 ? dns.resolve4(host, { ttl: true }) : dns.resolve6(host, { ttl: true }),
    findHosts: async (host, family) => {
      if (servers !== undefined) return []
      const { promise, reject } = Promise.withResolvers<never>()
      const timer = setTimeout(() => {
        reject(new Error(`${host} was not resolved in time`))
      }, lookupTimeoutMs)
      try {
        const found = await Promise.race([lookup(host, { family, all: true }), promise])
        return found.map(({ address }) => address)
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

/** Every address of a host, without repetition, and the shortest time to live if DNS gave one. */
export const addressesOf = async (
  names: NameService,
  host: string,
  families: readonly (4 | 6)[],
): Promise<{ readonly addresses: readonly string[]; readonly ttlSeconds: number | undefined }> => {
  const found = await Promise.all(
    families.flatMap((family) => [
      names.findRecords(host, family).catch(() => []),
      names
        .findHosts(host, family)
        .then((addresses) => addresses.map((address) => ({ address, ttl: undefined })))
        .catch(() => []),
    ]),
  )
  const records = found.flat()
  const ttls = records.flatMap(({ ttl }) => (ttl === undefined ? [] : [ttl]))
  return {
    addresses: [...new Set(records.map(({ address }) => address))],
    ttlSeconds: ttls.length === 0 ? undefined : Math.min(...ttls),
  }
}
