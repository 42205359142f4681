import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../../support/until.ts'
import { strangerAddress, trunkAddress } from '../stage/addresses.ts'
import type { Attack, Limits } from '../stage/attack.ts'
import { hostileShapes, repeatedShapes, type HostileShape } from '../stage/hostile-shapes.ts'
import { openConnection } from '../stage/http-connection.ts'
import { judgeProbes } from '../stage/judge-probes.ts'
import { createCostMeter } from '../stage/message-cost.ts'
import { startProber } from '../stage/prober.ts'
import type { Product } from '../stage/product.ts'
import { strangeMessages, strangeRequest } from '../stage/requests.ts'
import { openTenant, type Tenant } from '../stage/tenant.ts'
import { openTlsTrunk, type TlsTrunk } from '../stage/tls-trunk.ts'

/** The maximum size of a stream's message and of a line. */
const largeSize = 60_000
const shortSize = 3_500
const enoughBroken = 2
const tries = 4
/** For the remaining work of a call. */
const settleMs = 50
/** For a response that an incomplete message before it swallows. */
const patienceMs = 300
const listenMs = 1_500
const dripMs = 3_000
const halfHandshakes = 200
const floodMessages = 2_000

/** The trunk uses TLS and sends hostile messages over that connection; strangers find no TLS port. */
export const sipTlsCost: Attack = {
  name: 'sip-tls-cost',
  goal: 'no message over TLS costs more than 20 ms, a hostile TLS trunk costs 150 MB at most, strangers 0 bytes',
  isTimed: true,
  isLong: true,
  async run(stage, limits) {
    const trunk = await openTlsTrunk()
    const { DATABASE_URL: _, ...settings } = stage.settings
    const product = await stage.startAnother({
      settings: { ...settings, OUTDIAL_SIP_TRUNK: trunk.uri, OUTDIAL_MAX_CPS: '1000' },
      environment: { NODE_EXTRA_CA_CERTS: trunk.authorityFile },
    })
    const prober = await startProber({ port: product.home.apiPort, pid: product.pid })
    try {
      const tenant = await openTenant(product, 'By TLS')
      const { id: agentId = '' } = await tenant.publishAgent()
      const reach = createReach(trunk, tenant, agentId)
      await reach()
      const shapes = await costOfShapes(product, trunk, reach, limits)
      await prober.reset()
      const flooded = await floodOwnConnection(product, reach)
      const dripping = await dripOver(product, reach)
      const strangerBytes = await strangersAtPort(product.home.sipPort)
      const judged = judgeProbes(await prober.read(), limits)
      const placed = trunk.calls.length
      await reach()
      return {
        figure: `${shapes.count} messages, slowest ${shapes.worstMs.toFixed(1)} ms, ${judged.figure}, ${strangerBytes} bytes to strangers`,
        problems: [
          ...shapes.problems,
          ...flooded,
          ...dripping,
          ...judged.problems,
          ...(strangerBytes > 0 ? [`strangers were sent ${strangerBytes} bytes`] : []),
          ...(trunk.calls.length > placed ? [] : ['no call went out afterwards']),
        ],
        figures: { ...judged.figures, messageMs: shapes.worstMs, strangerBytes },
      }
    } finally {
      await prober.stop()
      await product.stop()
      trunk.close()
    }
  },
}

type Reach = () => Promise<Socket>

/** A connection of the product that just carried a call: the product opens one if none is left. */
const createReach = (trunk: TlsTrunk, tenant: Tenant, agentId: string): Reach => {
  let numbers = 0
  return async () => {
    const before = trunk.calls.length
    const number = `+1212777${String((numbers += 1)).padStart(4, '0')}`
    const { status } = await tenant.call(agentId, number, `tls ${number}`)
    if (status !== 202) throw new Error(`POST /calls: ${status}`)
    return until(
      'a call over TLS',
      () => (trunk.calls.length > before ? trunk.connections.at(-1) : undefined),
      { timeoutMs: 30_000 },
    )
  }
}

const write = (socket: Socket, text: string): Promise<void> =>
  new Promise((resolve) => {
    if (socket.destroyed) return resolve()
    socket.write(text, 'latin1', () => resolve())
  })

const costOfShapes = async (
  product: Product,
  trunk: TlsTrunk,
  reach: Reach,
  limits: Limits,
): Promise<{ count: number; worstMs: number; problems: string[] }> => {
  const meter = await createCostMeter(product)
  const problems: string[] = []
  const parts = { address: trunkAddress, port: 5061, transport: 'TLS' } as const
  const shapes = hostileShapes(parts)
  const messages = [
    ...sized(shapes, shortSize),
    ...sized(repeatedShapes(parts), largeSize),
    // Beyond the maximum line length the header makes no difference, and each costs a connection.
    ...sized(
      shapes.filter(({ name }) => name.startsWith('Via: ') || !name.includes(': ')),
      largeSize,
    ),
  ]
  let worstMs = 0
  let connection = await reach()
  let answered = 0
  /** Until the message behind it gets a response, or the product closed the connection. */
  const send = async (socket: Socket, text: string): Promise<void> => {
    const callId = randomUUID()
    const isAnswered = trunk.answerTo(callId).then(() => void (answered += 1))
    const { promise: isClosed, resolve: onClose } = Promise.withResolvers<void>()
    socket.once('close', onClose)
    await write(socket, text)
    await write(socket, strangeRequest('OPTIONS', { ...parts, callId }))
    await Promise.race([isAnswered, isClosed, delay(patienceMs)])
    socket.off('close', onClose)
  }
  /** The smallest of some tries, each over an open connection. */
  const costOf = async (text: string): Promise<number> => {
    let best = Infinity
    for (let turn = 0; turn < tries && best > limits.messageMs / 2; turn += 1) {
      if (connection.destroyed) {
        connection = await reach()
        await delay(settleMs)
      }
      const used = connection
      const options = { goodEnoughMs: limits.messageMs, tries: 1 }
      best = Math.min(best, await meter.costMs(() => send(used, text), options))
    }
    return best
  }
  for (const { name, text } of messages) {
    const costMs = await costOf(text)
    worstMs = Math.max(worstMs, costMs)
    if (costMs > limits.messageMs) problems.push(`${name} costs ${costMs.toFixed(0)} ms over TLS`)
    if (problems.length >= enoughBroken) break
  }
  meter.close()
  if (answered < messages.length / 2)
    problems.push(`only ${answered} of ${messages.length} requests over TLS were answered`)
  return { count: messages.length, worstMs, problems }
}

const sized = (shapes: readonly HostileShape[], size: number) =>
  shapes.map(({ name, write: compose }) => ({ name: `${name} (${size})`, text: compose(size) }))

/** Thousands of requests over the product's own connection, whose responses are not read. */
const floodOwnConnection = async (product: Product, reach: Reach): Promise<string[]> => {
  const connection = await reach()
  connection.pause()
  const parts = { address: trunkAddress, port: 5061, transport: 'TLS' } as const
  for (let sent = 0; sent < floodMessages && !connection.destroyed; sent += 1)
    void write(connection, strangeRequest(sent % 2 === 0 ? 'OPTIONS' : 'INVITE', parts))
  await delay(listenMs)
  connection.destroy()
  return product.isAlive ? [] : ['a flood over TLS ended the product']
}

/** A message that arrives byte by byte delays no other. */
const dripOver = async (product: Product, reach: Reach): Promise<string[]> => {
  const connection = await reach()
  const text = strangeRequest('OPTIONS', { address: trunkAddress, port: 5061, transport: 'TLS' })
  const deadline = performance.now() + dripMs
  for (const byte of text) {
    if (performance.now() > deadline || connection.destroyed) break
    await write(connection, byte)
    await delay(2)
  }
  const { status } = await fetch(`${product.apiUrl}/healthz`)
  return status === 200 ? [] : ['/healthz failed beside a dripping message']
}

/**
 * Strangers with TLS, half a handshake, plain SIP or silence. The product accepts no TLS connections; if one opens,
 * it must not get a byte.
 */
const strangersAtPort = async (sipPort: number): Promise<number> => {
  const localAddress = strangerAddress(130)
  // The beginning of a ClientHello, then nothing.
  const half = Buffer.from('16030100c8010000c40303', 'hex').toString('latin1')
  const messages = strangeMessages({ address: localAddress, port: 5061, transport: 'TLS' })
  const openings = [...messages, ...Array.from({ length: halfHandshakes }, () => half), '']
  let bytes = 0
  const sockets: Socket[] = []
  for (const port of [sipPort, sipPort + 1])
    for (const opening of openings) {
      const socket = await openConnection(port, localAddress, 500)
      if (!socket) continue
      sockets.push(socket)
      socket.on('data', (chunk: Buffer) => (bytes += chunk.length))
      socket.write(opening, 'latin1')
    }
  await delay(listenMs)
  for (const socket of sockets) socket.destroy()
  return bytes
}
