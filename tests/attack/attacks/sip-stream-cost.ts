import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { trunkAddress } from '../stage/addresses.ts'
import type { Attack } from '../stage/attack.ts'
import { hostileShapes, repeatedShapes } from '../stage/hostile-shapes.ts'
import { openConnection } from '../stage/http-connection.ts'
import { createCostMeter } from '../stage/message-cost.ts'
import { strangeMessages } from '../stage/requests.ts'
import { strangerAddress } from '../stage/addresses.ts'

const size = 60_000
const enoughBroken = 2
const listenMs = 1_500

/** The same messages over a TCP trunk's connection, and strangers at the TCP port. */
export const sipStreamCost: Attack = {
  name: 'sip-stream-cost',
  goal: 'no message of a stream costs more than 20 ms; strangers at the TCP port are sent 0 bytes',
  isTimed: true,
  isLong: true,
  async run(stage, limits) {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.resume()
    })
    server.listen(0, trunkAddress)
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const settings = { OUTDIAL_SIP_TRUNK: `sip:${trunkAddress}:${port};transport=tcp` }
    const product = await stage.startAnother({ settings })
    const meter = await createCostMeter(product)
    const problems: string[] = []
    let worstMs = 0
    const parts = { address: trunkAddress, port, transport: 'TCP' } as const
    try {
      const shapes = [...hostileShapes(parts), ...repeatedShapes(parts)]
      for (const { name, write } of shapes) {
        const costMs = await meter.costMs(
          async () => {
            // A stream with a refused message may be closed: the trunk opens another.
            const socket = await openConnection(product.home.sipPort, trunkAddress, 500)
            await new Promise<void>((resolve) => {
              if (!socket) return resolve()
              socket.write(write(size), () => resolve())
            })
            socket?.destroy()
          },
          { goodEnoughMs: limits.messageMs },
        )
        worstMs = Math.max(worstMs, costMs)
        if (costMs > limits.messageMs) problems.push(`${name} costs ${costMs.toFixed(0)} ms`)
        if (problems.length >= enoughBroken) break
      }
      const strangerBytes = await countAnswers(product.home.sipPort)
      if (strangerBytes > 0) problems.push(`strangers were sent ${strangerBytes} bytes over TCP`)
      return {
        figure: `slowest ${worstMs.toFixed(1)} ms, ${strangerBytes} bytes to strangers`,
        problems,
        figures: { messageMs: worstMs, strangerBytes },
      }
    } finally {
      meter.close()
      for (const socket of sockets) socket.destroy()
      server.close()
      await product.stop()
    }
  },
}

/** A connection for each message, so that each is refused independently. */
const countAnswers = async (port: number): Promise<number> => {
  const localAddress = strangerAddress(20)
  const messages = strangeMessages({ address: localAddress, port: 5060, transport: 'TCP' })
  let bytes = 0
  const sockets: Socket[] = []
  for (const message of messages) {
    const socket = await openConnection(port, localAddress, 500)
    if (!socket) continue
    sockets.push(socket)
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    socket.write(message, 'latin1')
  }
  await new Promise((resolve) => setTimeout(resolve, listenMs))
  for (const socket of sockets) socket.destroy()
  return bytes
}
