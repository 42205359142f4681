import type { Socket } from 'node:net'

/**
 * The connections that peers opened to us, limited in number per address and in the time to their first message.
 */
interface InboundConnections {
  /** Keeps the socket; if its address has too many, the one that was silent for longest is closed. */
  add(socket: Socket, address: string): void
  /** A whole message came on it. */
  heard(socket: Socket): void
  readonly size: number
}

/** More than a trunk with a connection for each of its processes needs. */
const maxOfOneAddress = 32
/** Inbound connections never use the places of those that we open ourselves. */
export const maxInboundConnections = 512
const firstMessageMs = 10_000

export const createInboundConnections = (): InboundConnections => {
  const byAddress = new Map<string, Set<Socket>>()
  const waiting = new Map<Socket, NodeJS.Timeout>()
  const addresses = new Map<Socket, string>()

  const forget = (socket: Socket): void => {
    clearTimeout(waiting.get(socket))
    waiting.delete(socket)
    const address = addresses.get(socket) ?? ''
    addresses.delete(socket)
    const others = byAddress.get(address)
    others?.delete(socket)
    if (others?.size === 0) byAddress.delete(address)
  }

  return {
    add: (socket, address) => {
      const others = byAddress.get(address) ?? new Set<Socket>()
      byAddress.set(address, others.add(socket))
      addresses.set(socket, address)
      const patience = setTimeout(() => socket.destroy(), firstMessageMs)
      waiting.set(socket, patience.unref())
      socket.once('close', () => {
        forget(socket)
      })
      const [oldest] = others
      if (others.size > maxOfOneAddress && oldest !== undefined) {
        forget(oldest)
        oldest.destroy()
      }
    },
    heard: (socket) => {
      clearTimeout(waiting.get(socket))
      waiting.delete(socket)
      // A set keeps the order of insertion: the last sender is last.
      const others = byAddress.get(addresses.get(socket) ?? '')
      if (others?.delete(socket) === true) others.add(socket)
    },
    get size() {
      return addresses.size
    },
  }
}
