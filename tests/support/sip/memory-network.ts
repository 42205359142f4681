import type { Transport, TransportEvents } from '../../../src/sip/transport/transport.ts'

/** A network without sockets: datagrams arrive in the order in which they are sent, or never. */
export interface MemoryNetwork {
  /** First lines of all datagrams, lost ones too, in order. */
  readonly sent: readonly string[]
  transportAt(port: number): Transport
}

/** `isLost` decides by the number of the datagram, from 0. */
export const createMemoryNetwork = (isLost: (index: number) => boolean): MemoryNetwork => {
  const ends = new Map<number, TransportEvents>()
  const sent: string[] = []
  const carry = (bytes: Buffer, from: number, to: number): void => {
    const index = sent.length
    sent.push(bytes.toString('latin1').split('\r\n')[0] ?? '')
    if (isLost(index)) return
    queueMicrotask(() => {
      ends.get(to)?.receive(Buffer.from(bytes), {
        protocol: 'udp',
        address: '127.0.0.1',
        port: from,
        reply: async (answer) => {
          carry(answer, to, from)
        },
      })
    })
  }
  return {
    sent,
    transportAt: (port) => ({
      protocol: 'udp',
      localPort: port,
      start: async (events) => {
        ends.set(port, events)
      },
      stop: async () => {
        ends.delete(port)
      },
      prepare: async () => ({ address: '127.0.0.1', port }),
      send: async (bytes, destination) => {
        carry(bytes, port, destination.port)
      },
    }),
  }
}
