import type { TransportProtocol } from '../message/destination.ts'
import { isAddress, type SipUri } from '../message/uri.ts'
import type { NameService } from './name-service.ts'

/** One host that serves a SIP URI. */
export interface ServerName {
  readonly protocol: TransportProtocol
  readonly host: string
  readonly port: number
  /** Lower first: the choice of the transport, then SRV's priority. */
  readonly rank: readonly [transport: number, priority: number]
  /** SRV's weight among equal ranks (RFC 2782). */
  readonly weight: number
}

/** The transport of a URI that names none and has no NAPTR or SRV records: its parameter, else TLS for sips, else UDP. */
export const protocolOf = (uri: SipUri): TransportProtocol =>
  uri.scheme === 'sips' ? 'tls' : (writtenProtocol(uri) ?? 'udp')

export const defaultPortOf = (protocol: TransportProtocol): number =>
  protocol === 'tls' ? 5061 : 5060

const writtenProtocol = ({ parameters }: SipUri): TransportProtocol | undefined => {
  const named = parameters.get('transport')?.toLowerCase()
  return named === 'tcp' || named === 'tls' || named === 'udp' ? named : undefined
}

const serviceNames: Readonly<Record<TransportProtocol, string>> = {
  udp: '_sip._udp',
  tcp: '_sip._tcp',
  tls: '_sips._tcp',
}

const pointedProtocols: Readonly<Record<string, TransportProtocol>> = {
  'sip+d2u': 'udp',
  'sip+d2t': 'tcp',
  'sips+d2t': 'tls',
}

// The maximum number of NAPTR and of SRV records of one name that are used.
const maxPointers = 8
const maxServers = 32

/**
 * The hosts of a SIP URI (RFC 3263 4.1, 4.2), unordered: by NAPTR where the URI leaves the transport open, by SRV where
 * it leaves the port open, else the host itself.
 */
export const serverNames = async (
  names: NameService,
  uri: SipUri,
): Promise<readonly ServerName[]> => {
  const { host, port } = uri
  const protocol = protocolOf(uri)
  const itself: ServerName = {
    protocol,
    host,
    port: port ?? defaultPortOf(protocol),
    rank: [0, 0],
    weight: 0,
  }
  if (port !== undefined || isAddress(host) || !host.includes('.')) return [itself]
  const isOpen = uri.scheme === 'sip' && writtenProtocol(uri) === undefined
  const services = isOpen
    ? await openServices(names, host)
    : [{ protocol, name: `${serviceNames[protocol]}.${host}` }]
  const found = await Promise.all(
    services.map(async ({ protocol: transport, name }, index) => {
      const records = await names.findServers(name).catch(() => [])
      return records.slice(0, maxServers).map((record): ServerName => ({
        protocol: transport,
        host: record.name,
        port: record.port,
        rank: [index, record.priority],
        weight: record.weight,
      }))
    }),
  )
  const servers = found.flat()
  return servers.length === 0 ? [itself] : servers
}

interface Service {
  readonly protocol: TransportProtocol
  readonly name: string
}

/** NAPTR's order and preference; without such records every transport of ours, UDP first. */
const openServices = async (names: NameService, host: string): Promise<readonly Service[]> => {
  const pointers = await names.findPointers(host).catch(() => [])
  const services = pointers
    .filter(({ flags, regexp }) => flags.toLowerCase() === 's' && regexp === '')
    .toSorted((a, b) => a.order - b.order || a.preference - b.preference)
    .flatMap(({ service, replacement }): Service[] => {
      const protocol = pointedProtocols[service.toLowerCase()]
      return protocol === undefined ? [] : [{ protocol, name: replacement }]
    })
  if (services.length > 0) return services.slice(0, maxPointers)
  return (['udp', 'tcp', 'tls'] as const).map((protocol) => ({
    protocol,
    name: `${serviceNames[protocol]}.${host}`,
  }))
}

/** The order of trial: by rank, and among equal ones by lot according to weight. `random` is in [0, 1). */
export const orderServers = (
  servers: readonly ServerName[],
  random: () => number,
): readonly ServerName[] => {
  const left = servers.toSorted((a, b) => a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1])
  const ordered: ServerName[] = []
  while (left.length > 0) {
    const [best] = left
    const equal = left.filter(({ rank }) => rank[0] === best?.rank[0] && rank[1] === best.rank[1])
    const chosen = draw(equal, random())
    ordered.push(chosen)
    left.splice(left.indexOf(chosen), 1)
  }
  return ordered
}

const draw = (servers: readonly ServerName[], random: number): ServerName => {
  let left = random * servers.reduce((sum, { weight }) => sum + weight, 0)
  for (const server of servers) {
    left -= server.weight
    if (left < 0) return server
  }
  const [first] = servers
  if (first === undefined) throw new Error('there is nothing to draw from')
  return first
}
