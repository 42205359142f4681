import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'

/** A UDP socket of the harness at its own address that counts received bytes. */
export interface UdpPeer {
  readonly address: string
  readonly port: number
  readonly receivedBytes: number
  readonly received: readonly string[]
  /** Resolves once the system has taken the datagram. */
  send(data: string | Uint8Array, port: number, address: string): Promise<void>
  onMessage(listener: (data: Buffer, from: RemoteInfo) => void): void
  close(): void
}

/** The kept part of received datagrams, for the report. */
const maxKept = 200

export const openUdpPeer = async (address: string, port = 0): Promise<UdpPeer> => {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 })
  socket.bind(port, address)
  await once(socket, 'listening')
  const bound = socket.address()
  const received: string[] = []
  let receivedBytes = 0
  let isOpen = true
  socket.on('message', (data) => {
    receivedBytes += data.length
    if (received.length < maxKept) received.push(data.toString('latin1'))
  })
  // A closed port of the product causes ICMP, which is no fault of the harness.
  socket.on('error', () => undefined)
  return {
    address,
    port: bound.port,
    get receivedBytes() {
      return receivedBytes
    },
    received,
    send: (data, toPort, toAddress) =>
      new Promise((resolve) => {
        if (!isOpen) return resolve()
        socket.send(data, toPort, toAddress, () => resolve())
      }),
    onMessage: (listener) => void socket.on('message', listener),
    close: () => {
      if (isOpen) socket.close()
      isOpen = false
    },
  }
}
