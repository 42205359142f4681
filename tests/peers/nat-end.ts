// An end in a network namespace, ordered about by nat.test.ts: one order at a time, one message back for each.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { serializeRtpPacket } from '../../src/rtp/packet.ts'
import { anySource } from '../../src/sip/gate/sources.ts'
import { createUdpTransport } from '../../src/sip/transport/udp-transport.ts'
import type { InviteResult } from '../../src/sip/user-agent/user-agent-types.ts'
import { createUserAgent } from '../../src/sip/user-agent/user-agent.ts'
import { call } from '../support/sip/test-agents.ts'
import { until } from '../support/until.ts'

interface Order {
  readonly do: string
  readonly target: string
  readonly bindAddress: string
  readonly keepAliveMs?: number
  readonly address: string
  readonly port: number
  readonly ssrc: number
  readonly byte: number
  readonly sequenceNumber: number
  readonly waitMs: number
}

let result: InviteResult | undefined
let received = 0
const phone = createSocket('udp4').on('message', () => (received += 1))

const orders: Readonly<Record<string, (order: Order) => Promise<unknown>>> = {
  /** Calls a target over UDP, after OPTIONS that showed our address outside. */
  call: async ({ target, bindAddress, keepAliveMs }) => {
    const udp = createUdpTransport({
      bindAddress,
      port: 0,
      ...(keepAliveMs !== undefined && { keepAliveMs }),
    })
    const transports = new Map([['udp' as const, udp]])
    const agent = createUserAgent({ bindAddress, sources: anySource, transports })
    await agent.start()
    await until('the peer to respond', async () => {
      const answer = await agent.ping(target, 60_000).catch(() => undefined)
      return answer === undefined ? undefined : true
    })
    result = await call(agent, target)
    return result.kind
  },
  /** Whether the call has ended, or ends within the time; by which side. */
  ended: ({ waitMs }) =>
    result?.kind === 'answered'
      ? Promise.race([result.dialog.ended, passed(waitMs)])
      : Promise.resolve('no call'),
  send: async ({ address, port, ssrc, byte, sequenceNumber }) => {
    const payload = new Uint8Array(160).fill(byte)
    const timestamp = sequenceNumber * 160
    const packet = { marker: false, payloadType: 0, sequenceNumber, timestamp, ssrc, payload }
    await new Promise<void>((done) =>
      phone.send(serializeRtpPacket(packet), port, address, () => done()),
    )
    return 'sent'
  },
  received: () => Promise.resolve(received),
}

const passed = (ms: number): Promise<string> =>
  new Promise((resolve) => setTimeout(() => resolve('no end'), ms))

phone.bind(0)
await once(phone, 'listening')
process.on('message', (order: Order) => {
  void orders[order.do]?.(order).then(
    (answer) => process.send?.(answer),
    (error: unknown) => process.send?.(String(error)),
  )
})
process.on('disconnect', () => process.exit())
