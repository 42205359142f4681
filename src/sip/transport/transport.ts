import type { Destination, TransportProtocol } from '../message/destination.ts'

/** The source of bytes. On a stream, `reply` writes to the same connection. */
export interface Source extends Destination {
  reply(bytes: Buffer): Promise<void>
}

type ReceiveHandler = (bytes: Buffer, source: Source) => void

/** What a transport reports, and asks the layers above. */
export interface TransportEvents {
  readonly receive: ReceiveHandler
  /** Whether a connection that a peer opened to us is kept. Others are closed without a byte. */
  admits(source: Destination): boolean
  /**
   * The connection to a destination ended; the next `send` opens another. `isUnread`: its other end certainly read
   * nothing of what we wrote.
   */
  onLost?(destination: Destination, reason: string, isUnread: boolean): void
  /** Sends a silent peer a request (OPTIONS); resolves after its response, or when it took too long. */
  askPeer?(destination: Destination): Promise<void>
}

/** Our end as a peer reaches it: where we listen, else that of the connection itself. */
export interface LocalEnd {
  readonly address: string
  readonly port: number
}

/** One protocol's sockets. Sending rejects with an `Error` when the transport refuses. */
export interface Transport {
  readonly protocol: TransportProtocol
  /** Binds; resolves when messages can come in. */
  start(events: TransportEvents): Promise<void>
  stop(): Promise<void>
  /** The bound port, after start; 0 where this transport does not listen. */
  readonly localPort: number
  /** Prepares a connection, so that the next `send` writes at once. */
  prepare(destination: Destination): Promise<LocalEnd>
  send(bytes: Buffer, destination: Destination): Promise<void>
  /**
   * Whether the destination refused a datagram just now (ICMP), and has sent nothing since. Streams know it by
   * their connection.
   */
  isRefusing?(destination: Destination): Promise<boolean>
  /**
   * Uses another connection from the next `send` on if nothing came on the present one since that instant
   * (`performance.now()`). Returns whether it does.
   */
  renew?(destination: Destination, sinceMs: number): Promise<boolean>
}

/** Whether retransmissions belong to the transport rather than to us (RFC 3261 17). */
export const isReliable = (protocol: TransportProtocol): boolean => protocol !== 'udp'
