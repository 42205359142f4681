import type { Destination, TransportProtocol } from '../message/destination.ts'

/** The source of bytes. On a stream, `reply` writes to the same connection. */
export interface Source extends Destination {
  reply(bytes: Buffer): Promise<void>
}

export type ReceiveHandler = (bytes: Buffer, source: Source) => void

/** Whether a connection that a peer opened to us is kept. */
export type AdmitConnection = (source: Destination) => boolean

/** One protocol's sockets. Sending rejects with an `Error` when the transport refuses. */
export interface Transport {
  readonly protocol: TransportProtocol
  /** Binds; resolves when messages can come in. Connections that `admits` refuses are closed without a byte. */
  start(receive: ReceiveHandler, admits: AdmitConnection): Promise<void>
  stop(): Promise<void>
  /** The bound port, after start; 0 where this transport does not listen. */
  readonly localPort: number
  /** Prepares a connection, so that the next `send` writes at once. Returns its local address. */
  prepare(destination: Destination): Promise<string>
  send(bytes: Buffer, destination: Destination): Promise<void>
  /**
   * Whether the destination refused a datagram just now (ICMP), and has sent nothing since. Streams know it by
   * their connection.
   */
  isRefusing?(destination: Destination): Promise<boolean>
}

/** Whether retransmissions belong to the transport rather than to us (RFC 3261 17). */
export const isReliable = (protocol: TransportProtocol): boolean => protocol !== 'udp'
