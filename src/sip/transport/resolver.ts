import { Resolver as DnsResolver, lookup } from 'node:dns/promises'
import type { SrvRecord } from 'node:dns'
import { isIP } from 'node:net'
import type { Destination, TransportProtocol } from '../message/destination.ts'
import { isAddress, type SipUri } from '../message/uri.ts'

/** Finds the next hop of a SIP URI (RFC 3263 4, without NAPTR: the transport is configured, not discovered). */
export interface SipResolver {
  /** Rejects with an `Error` if the name has no address. */
  resolve(uri: SipUri): Promise<Destination>
}

/** Our DNS queries; tests supply their own. */
export interface NameService {
  findServers(name: string): Promise<readonly SrvRecord[]>
  findAddress(host: string, family: 4 | 6): Promise<string>
}

const lookupTimeoutMs = 5000

export const createResolver = (
  family: 4 | 6,
  names: NameService = createSystemNameService(),
): SipResolver => ({
  resolve: async (uri) => {
    const protocol = protocolOf(uri)
    const defaultPort = protocol === 'tls' ? 5061 : 5060
    if (isAddress(uri.host)) return addressed(uri, protocol, family, uri.port ?? defaultPort)
    const server = await findServer(names, uri, protocol)
    const address = await names.findAddress(server?.name ?? uri.host, family)
    // A certificate is checked against the name that the administrator wrote, never against one from DNS (RFC 5922
    // 4).
    return {
      protocol,
      address,
      port: server?.port ?? uri.port ?? defaultPort,
      serverName: uri.host,
    }
  },
})

/** The transport of a URI: its parameter, else TLS for sips, else UDP. */
export const protocolOf = (uri: SipUri): TransportProtocol => {
  if (uri.scheme === 'sips') return 'tls'
  const named = uri.parameters.get('transport')?.toLowerCase()
  return named === 'tcp' || named === 'tls' ? named : 'udp'
}

const addressed = (
  { host }: SipUri,
  protocol: TransportProtocol,
  family: 4 | 6,
  port: number,
): Destination => {
  if (isIP(host) !== family) throw new Error(`the address is not of IP version ${family}`)
  return { protocol, address: host, port }
}

/** SRV only if no port was written (RFC 3263 4.2); a name without records is looked up as a host. */
const findServer = async (
  names: NameService,
  { host, port }: SipUri,
  protocol: TransportProtocol,
): Promise<SrvRecord | undefined> => {
  if (port !== undefined || !host.includes('.')) return undefined
  const service = { udp: '_sip._udp', tcp: '_sip._tcp', tls: '_sips._tcp' }[protocol]
  try {
    return chooseServer(await names.findServers(`${service}.${host}`), Math.random())
  } catch {
    return undefined
  }
}

/** The lowest priority, and within it a choice by weight (RFC 2782). `random` is in [0, 1). */
export const chooseServer = (
  records: readonly SrvRecord[],
  random: number,
): SrvRecord | undefined => {
  const best = Math.min(...records.map(({ priority }) => priority))
  const candidates = records.filter(({ priority }) => priority === best)
  const total = candidates.reduce((sum, { weight }) => sum + weight, 0)
  let left = random * total
  for (const candidate of candidates) {
    left -= candidate.weight
    if (left < 0) return candidate
  }
  return candidates[0]
}

const createSystemNameService = (): NameService => {
  const dns = new DnsResolver({ timeout: 1000, tries: 2 })
  return {
    findServers: (name) => dns.resolveSrv(name),
    findAddress: async (host, family) => {
      const { promise, reject } = Promise.withResolvers<never>()
      const timer = setTimeout(() => {
        reject(new Error(`${host} was not resolved in time`))
      }, lookupTimeoutMs)
      try {
        return (await Promise.race([lookup(host, { family }), promise])).address
      } finally {
        clearTimeout(timer)
      }
    },
  }
}
