import { trunkAddress } from './addresses.ts'
import { composeResponse, headerOf, parseSip, uriOf, type SipText } from './sip-text.ts'
import { createTrunkCall, type TrunkCall } from './trunk-call.ts'
import { openUdpPeer, type UdpPeer } from './udp-peer.ts'

/** The other side of a SIP trunk, on its own address: answers calls, and records everything it received. */
export interface Trunk {
  readonly address: string
  readonly port: number
  /** The value of OUTDIAL_SIP_TRUNK. */
  readonly uri: string
  readonly peer: UdpPeer
  /** One for each Call-ID, oldest first. */
  readonly calls: readonly TrunkCall[]
  /** The handling of INVITEs to this number, or to all with this prefix if it ends in `*`; others are answered. */
  plan(number: string, handler: InviteHandler): void
  /** The first call to this number, once its INVITE has arrived. */
  callTo(number: string, timeoutMs?: number): Promise<TrunkCall>
  /** Called for every response that belongs to no call; returns the function that ends this. */
  onStray(listener: () => void): () => void
  close(): void
}

/** Called for every INVITE of the number that begins a transaction; `count` is 1 for the first of its Call-ID. */
export type InviteHandler = (call: TrunkCall, count: number) => void | Promise<void>

const credentials = { username: 'outdial', password: 'correct-horse' }
export const trunkCredentials = credentials

export const openTrunk = async (): Promise<Trunk> => {
  const peer = await openUdpPeer(trunkAddress)
  const calls = new Map<string, TrunkCall>()
  const plans = new Map<string, InviteHandler>()
  const waiting = new Set<() => void>()
  const strays = new Set<() => void>()

  const reply = (message: SipText, status: string, to: { port: number; address: string }): void =>
    void peer.send(composeResponse(message, status, { toTag: 'trunk' }), to.port, to.address)

  const findOrMakeCall = (message: SipText): TrunkCall => {
    const id = headerOf(message, 'call-id')
    const known = calls.get(id)
    if (known) return known
    const call = createTrunkCall(message, peer)
    calls.set(id, call)
    for (const wake of waiting) wake()
    return call
  }

  peer.onMessage((data, from) => {
    const message = parseSip(data.toString('latin1'))
    if (!message) return
    const id = headerOf(message, 'call-id')
    if (message.status !== undefined) {
      const call = calls.get(id)
      if (call) return call.receiveResponse(message)
      for (const listener of strays) listener()
      return
    }
    const isNewDialog = !/;tag=/.test(headerOf(message, 'to'))
    if (message.method === 'INVITE' && isNewDialog) {
      const call = findOrMakeCall(message)
      if (call.receiveInvite(message)) void startPlan(call)
      return
    }
    const call = calls.get(id)
    if (call) return void call.receiveRequest(message, from)
    reply(message, message.method === 'OPTIONS' ? '200 OK' : '481 No Such Dialog', from)
  })

  const startPlan = async (call: TrunkCall): Promise<void> => {
    const prefix = [...plans.keys()].find(
      (key) => key.endsWith('*') && call.number.startsWith(key.slice(0, -1)),
    )
    const answer: InviteHandler = (each) => each.answer()
    const handler = plans.get(call.number) ?? plans.get(prefix ?? '') ?? answer
    await handler(call, call.invites.length)
  }

  return {
    address: peer.address,
    port: peer.port,
    uri: `sip:${credentials.username}:${credentials.password}@${peer.address}:${peer.port}`,
    peer,
    get calls() {
      return [...calls.values()]
    },
    plan: (number, handler) => void plans.set(number, handler),
    callTo: (number, timeoutMs = 60_000) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = [...calls.values()].findLast((call) => call.number === number)
          if (!found) return
          clearTimeout(timer)
          waiting.delete(look)
          resolve(found)
        }
        const timer = setTimeout(() => {
          waiting.delete(look)
          reject(new Error(`No INVITE for ${number} came within ${timeoutMs} ms.`))
        }, timeoutMs)
        waiting.add(look)
        look()
      }),
    onStray: (listener) => {
      strays.add(listener)
      return () => void strays.delete(listener)
    },
    close: () => {
      for (const call of calls.values()) call.close()
      peer.close()
    },
  }
}

/** The requested number of an INVITE. */
export const numberOf = (invite: SipText): string =>
  /^INVITE sips?:([^@;]*)/.exec(invite.start)?.[1] ?? uriOf(headerOf(invite, 'to'))
