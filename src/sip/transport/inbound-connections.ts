import type { Socket } from 'node:net'
import { hostPort } from '../message/uri.ts'

/**
 * The connections that peers opened to us, limited in number per address and in the time to their first message. A
 * connection is proven by its first message; proven ones are counted apart, so that no crowd of idle connections
 * takes their place.
 */
interface InboundConnections {
  /** Keeps the socket; beyond a limit, the one that was silent for longest is closed. */
  add(socket: Socket, address: string): void
  /** A whole message came from there. */
  heard(address: string, port: number): void
  closeAll(): void
  readonly size: number
}

/** Without a message: of one address, and in all. */
const maxIdleOfOneAddress = 16
const maxIdle = 256
/** With one: more than a trunk with a connection for each of its processes needs. */
const maxProvenOfOneAddress = 32
const maxProven = 512
const firstMessageMs = 10_000

interface Member {
  readonly socket: Socket
  readonly address: string
  readonly key: string
}

export const createInboundConnections = (): InboundConnections => {
  const idle = createCrowd(maxIdleOfOneAddress, maxIdle)
  const proven = createCrowd(maxProvenOfOneAddress, maxProven)
  const patience = new Map<Socket, NodeJS.Timeout>()
  const forget = ({ socket, key }: Member): void => {
    clearTimeout(patience.get(socket))
    patience.delete(socket)
    idle.remove(key)
    proven.remove(key)
  }
  const close = (members: readonly Member[]): void => {
    for (const member of members) {
      forget(member)
      member.socket.destroy()
    }
  }
  return {
    add: (socket, address) => {
      const member = { socket, address, key: hostPort(address, socket.remotePort ?? 0) }
      patience.set(
        socket,
        setTimeout(() => {
          close([member])
        }, firstMessageMs).unref(),
      )
      socket.once('close', () => {
        forget(member)
      })
      close(idle.add(member))
    },
    heard: (address, port) => {
      const key = hostPort(address, port)
      const member = idle.remove(key) ?? proven.remove(key)
      if (member === undefined) return
      clearTimeout(patience.get(member.socket))
      patience.delete(member.socket)
      close(proven.add(member))
    },
    closeAll: () => {
      close([...idle.all(), ...proven.all()])
    },
    get size() {
      return idle.size + proven.size
    },
  }
}

interface Crowd {
  /** Returns those that have to go, at most two. */
  add(member: Member): readonly Member[]
  remove(key: string): Member | undefined
  all(): readonly Member[]
  readonly size: number
}

const createCrowd = (maxOfOneAddress: number, maxOfAll: number): Crowd => {
  /** In the order of their last message: the first was silent for longest. */
  const members = new Map<string, Member>()
  const byAddress = new Map<string, Set<Member>>()
  const first = <T>(values: Iterable<T>): readonly T[] => {
    for (const value of values) return [value]
    return []
  }
  return {
    add: (member) => {
      const others = byAddress.get(member.address) ?? new Set<Member>()
      byAddress.set(member.address, others.add(member))
      members.set(member.key, member)
      return [
        ...(others.size > maxOfOneAddress ? first(others) : []),
        ...(members.size > maxOfAll ? first(members.values()) : []),
      ]
    },
    remove: (key) => {
      const member = members.get(key)
      if (member === undefined) return undefined
      members.delete(key)
      const others = byAddress.get(member.address)
      others?.delete(member)
      if (others?.size === 0) byAddress.delete(member.address)
      return member
    },
    all: () => [...members.values()],
    get size() {
      return members.size
    },
  }
}
