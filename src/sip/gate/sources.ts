import type { Source } from '../transport/transport.ts'
import type { Destination } from '../message/destination.ts'

/**
 * The sources that a user agent accepts; a trunk's are `telephony/trunk-sources.ts`. It is asked for each message, so that the set may change during calls.
 * Nothing from another source is parsed or answered, except what `DialogTable` and the client transactions await.
 */
export interface SipSources {
  /** Whether requests from here are accepted. */
  admits(source: Destination): boolean
  /** Whether both belong to one trunk, so that one may respond to a request to the other. */
  areOneTrunk(a: Destination, b: Destination): boolean
}

/** Any source: for peers in tests and benchmarks, never for a socket that others can reach. */
export const anySource: SipSources = { admits: () => true, areOneTrunk: () => false }

/** One address and port, asked for each message because the port may become known later. */
export const onlySource = (address: string, port: () => number): SipSources => ({
  admits: (source) => source.address === address && source.port === port(),
  areOneTrunk: () => false,
})

/**
 * Whether a response may belong to the request that went to `asked`: it comes from exactly that address and port,
 * or from the same port of another address of the same trunk (a trunk of several interfaces). On streams the
 * address is enough, because no stranger can open a connection from it (RFC 3261 18.2.2 allows the response on a
 * new one).
 */
export const mayAnswerFor = (asked: Destination, source: Source, sources: SipSources): boolean => {
  if (source.protocol !== asked.protocol) return false
  if (source.protocol !== 'udp') return source.address === asked.address
  if (source.port !== asked.port) return false
  return source.address === asked.address || sources.areOneTrunk(asked, source)
}
