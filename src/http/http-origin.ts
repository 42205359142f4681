import { isIPv6 } from 'node:net'

/** Listening on every address, a server is reached from this machine at loopback. */
const loopbackOf: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** The origin of a server that listens there, as a client on this machine writes it. */
export const httpOrigin = (host: string, port: number): string => {
  const reached = loopbackOf[host] ?? host
  return `http://${isIPv6(reached) ? `[${reached}]` : reached}:${port}`
}
