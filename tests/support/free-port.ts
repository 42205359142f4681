import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that systems give to whoever asks for any: one of those would be given away before it is used. */
const lowestPort = 12_000
const portsOfAProcess = 20
/** Test files run side by side, each in a process of its own: neighbours get ports of their own. */
const processes = 1_000
let given = 0

/** A TCP port of loopback that is free, and that nobody else who asks here is given meanwhile. */
export const freeTcpPort = async (): Promise<number> => {
  for (let tries = 0; tries < portsOfAProcess; tries += 1) {
    const own = given++ % portsOfAProcess
    const port = lowestPort + (process.pid % processes) * portsOfAProcess + own
    if (await isFree(port)) return port
  }
  throw new Error(`None of the ${portsOfAProcess} ports of this process is free.`)
}

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}

/** A UDP port of loopback that was free a moment ago. */
export const freeUdpPort = async (): Promise<number> => {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  await once(socket, 'close')
  return port
}
