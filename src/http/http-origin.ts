import { isIPv6 } from 'node:net'

/** A server that listens on every address is reached at loopback from this machine. */
const loopbackOf: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** The origin of a server for clients on this machine. */
export const httpOrigin = (host: string, port: number): string => {
  const reached = loopbackOf[host] ?? host
  return `http://${isIPv6(reached) ? `[${reached}]` : reached}:${port}`
}
