import type { Destination } from '../transport/transport.ts'

/**
 * Whom a user agent listens to. It is asked for each message, so that the set may change while calls go on. Nothing of
 * another source is parsed or answered, except what `DialogTable` and the client transactions wait for.
 */
export interface SipSources {
  /** Whether requests from here are taken. */
  admits(source: Destination): boolean
  /** Whether both belong to one trunk, so that a request to one may be answered by the other. */
  areOneTrunk(a: Destination, b: Destination): boolean
}

/** Anybody: for peers in tests and benchmarks, never for a socket that others can reach. */
export const anySource: SipSources = { admits: () => true, areOneTrunk: () => false }

/** Nobody: only the answers to our own requests are read. */
export const noSource: SipSources = { admits: () => false, areOneTrunk: () => false }

/** One address and port, asked for each message because the port may be known later. */
export const onlySource = (address: string, port: () => number): SipSources => ({
  admits: (source) => source.address === address && source.port === port(),
  areOneTrunk: () => false,
})
