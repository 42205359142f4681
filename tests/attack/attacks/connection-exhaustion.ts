import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { strangerAddress } from '../stage/addresses.ts'
import type { Attack } from '../stage/attack.ts'
import { exchange, openConnection } from '../stage/http-connection.ts'
import { judgeProbes } from '../stage/judge-probes.ts'

/** More than the product accepts in all. */
const connections = 10_500
const atOnce = 250
/** A fifth of the total. */
const maxHeld = 2_000
const settleMs = 500
const request = 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n'

/** One address opens more connections than the total, and sends nothing on them. */
export const connectionExhaustion: Attack = {
  name: 'connection-exhaustion',
  goal: 'one address holds no more than 2,000 connections, others are served',
  isTimed: true,
  async run({ product, prober }, limits) {
    await prober.reset()
    const sockets: Socket[] = []
    while (sockets.length < connections) {
      const opened = await Promise.all(
        Array.from({ length: atOnce }, () =>
          openConnection(product.home.apiPort, strangerAddress(70)),
        ),
      )
      const good = opened.filter((socket) => socket !== undefined)
      sockets.push(...good)
      // Refused at accept: the cap is reached.
      if (good.length < atOnce / 2) break
    }
    await delay(settleMs)
    const held = sockets.filter((socket) => !socket.destroyed && !socket.readableEnded).length
    const other = await exchange(product.home.apiPort, request, {
      localAddress: strangerAddress(71),
      timeoutMs: limits.ringMs,
    })
    const judged = judgeProbes(await prober.read(), limits)
    for (const socket of sockets) socket.destroy()
    const isServed = other.text.startsWith('HTTP/1.1 200')
    return {
      ...judged,
      figure: `${held} connections held, ${judged.figure}`,
      problems: [
        ...judged.problems,
        ...(held > maxHeld ? [`one address holds ${held} connections`] : []),
        ...(isServed ? [] : ['another address is not served']),
      ],
    }
  },
}
