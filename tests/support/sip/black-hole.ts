import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** A TCP relay whose connections can fall silent without being closed, as behind a rebooted firewall. */
export interface BlackHoleRelay {
  readonly port: number
  /** The open connections carry nothing more, in neither direction. New ones work. */
  swallow(): void
  /** Nothing more is carried, on new connections either. */
  swallowAll(): void
  /** Closes every connection, and accepts no new one. */
  close(): void
  /** How many connections were opened so far. */
  readonly opened: number
}

export const openBlackHole = async (context: TestContext, to: number): Promise<BlackHoleRelay> => {
  const sockets = new Set<Socket>()
  const silent = new Set<Socket>()
  let opened = 0
  let swallowsAll = false
  const server = createServer((near) => {
    opened += 1
    const far = connect(to, '127.0.0.1')
    for (const [from, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('data', (bytes) => {
        if (!silent.has(from) && !swallowsAll) other.write(bytes)
      })
      from.on('close', () => {
        sockets.delete(from)
        if (!silent.has(from)) other.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = (): void => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  context.after(close)
  return {
    port,
    swallow: () => {
      for (const socket of sockets) silent.add(socket)
    },
    swallowAll: () => {
      swallowsAll = true
    },
    close,
    get opened() {
      return opened
    },
  }
}
