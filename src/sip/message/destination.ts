export type TransportProtocol = 'udp' | 'tcp' | 'tls'

/** One hop: an address (never a name) with its protocol. */
export interface Destination {
  readonly protocol: TransportProtocol
  readonly address: string
  readonly port: number
  /** The name to check a TLS certificate against, if the destination was given by name. */
  readonly serverName?: string
}
