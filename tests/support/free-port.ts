import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/**
 * Test files run side by side, each in its own process, which reserves a block of ports. It holds the block by
 * listening on its first TCP port for its lifetime.
 */
const blocks = 500
const portsOfABlock = { tcp: 40, udp: 8 } as const
/** Outside the systems' ephemeral range: a port there could be assigned before it is used. */
const lowestPort = { tcp: 12_000, udp: 61_000 } as const

let own: Promise<number> | undefined
const given = { tcp: 0, udp: 0 }

/** A free TCP port of loopback that no other caller of this function gets meanwhile. */
export const freeTcpPort = (): Promise<number> => findFree('tcp', isTcpFree)

/** The same for UDP. */
export const freeUdpPort = (): Promise<number> => findFree('udp', isUdpFree)

const findFree = async (
  kind: 'tcp' | 'udp',
  isFree: (port: number) => Promise<boolean>,
): Promise<number> => {
  own ??= takeBlock()
  const first = lowestPort[kind] + (await own) * portsOfABlock[kind]
  // The first one holds the block.
  const usable = portsOfABlock[kind] - 1
  for (let tries = 0; tries < usable; tries += 1) {
    const port = first + 1 + (given[kind]++ % usable)
    if (await isFree(port)) return port
  }
  throw new Error(`None of the ${usable} ${kind} ports of this process is free.`)
}

const takeBlock = async (): Promise<number> => {
  for (let tries = 0; tries < blocks; tries += 1) {
    const block = (process.pid + tries) % blocks
    const holder = await listen(lowestPort.tcp + block * portsOfABlock.tcp)
    if (holder) {
      holder.unref()
      return block
    }
  }
  throw new Error(`All ${blocks} blocks of ports are taken.`)
}

const listen = async (port: number): Promise<Server | undefined> => {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return server
  } catch {
    return undefined
  }
}

const isTcpFree = async (port: number): Promise<boolean> => {
  const server = await listen(port)
  if (!server) return false
  server.close()
  await once(server, 'close')
  return true
}

const isUdpFree = async (port: number): Promise<boolean> => {
  const socket = createSocket('udp4')
  try {
    socket.bind(port, '127.0.0.1')
    await once(socket, 'listening')
  } catch {
    return false
  }
  socket.close()
  await once(socket, 'close')
  return true
}
