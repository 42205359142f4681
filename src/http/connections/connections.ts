import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf, type IsTrusted } from './client-address.ts'

interface ConnectionLimits {
  /** Open connections of one address that is no proxy. */
  readonly perAddress: number
  readonly total: number
  /** Addresses through which many clients come: only `total` bounds them. */
  readonly isProxy: IsTrusted
  /** Called if no connection is idle; false if nothing could be closed either. */
  readonly cutSlowReader: () => boolean
}

interface Address {
  open: number
  /** Those without an active request, the longest idle first. */
  readonly idle: Set<Socket>
}

/**
 * Caps connections per address and in all. At a cap the connection that has been idle longest is closed, also one
 * with half a head; at the total cap, one of the address with the most idle ones. A new connection is refused only
 * if each existing one has an active request. `keepBusy` is for a connection that speaks another protocol from now on.
 */
export const capConnections = (
  server: Server,
  limits: ConnectionLimits,
): { readonly keepBusy: (socket: Socket) => void } => {
  const addresses = new Map<string, Address>()
  const homes = new WeakMap<Socket, Address>()
  let open = 0

  const busiest = (): Address | undefined => {
    let found: Address | undefined
    for (const address of addresses.values())
      if (address.idle.size > (found?.idle.size ?? 0)) found = address
    return found
  }
  const shed = (address: Address | undefined): boolean => {
    const [oldest] = address?.idle ?? []
    if (!address || !oldest) return false
    // At once, not with its `close`, so that the next to come takes another one.
    address.idle.delete(oldest)
    oldest.destroy()
    return true
  }
  const hasRoom = (peer: string, address: Address): boolean => {
    const isOver = address.open >= limits.perAddress && !limits.isProxy(peer)
    if (isOver && !shed(address)) return false
    return open < limits.total || shed(busiest()) || limits.cutSlowReader()
  }
  const admit = (socket: Socket): void => {
    const peer = socket.remoteAddress ?? ''
    const key = networkOf(peer)
    const address = addresses.get(key) ?? { open: 0, idle: new Set<Socket>() }
    if (!hasRoom(peer, address)) return void socket.destroy()
    addresses.set(key, address)
    homes.set(socket, address)
    address.idle.add(socket)
    address.open += 1
    open += 1
    socket.once('close', () => {
      address.idle.delete(socket)
      address.open -= 1
      open -= 1
      if (address.open === 0 && addresses.get(key) === address) addresses.delete(key)
    })
  }
  const begin = ({ socket }: IncomingMessage, response: ServerResponse): void => {
    homes.get(socket)?.idle.delete(socket)
    response.once('close', () => {
      if (!socket.destroyed) homes.get(socket)?.idle.add(socket)
    })
  }
  server.on('connection', admit)
  server.on('request', begin).on('checkContinue', begin).on('checkExpectation', begin)
  return { keepBusy: (socket) => void homes.get(socket)?.idle.delete(socket) }
}
