// Runs beside others: it waits for most of its 20 s.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { endingOfFailure } from '../../src/live-call/call/call-ending.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { anySource } from '../../src/sip/gate/sources.ts'
import { createUserAgent } from '../../src/sip/user-agent/user-agent.ts'
import type { IncomingInvite } from '../../src/sip/user-agent/user-agent-types.ts'
import type { DialOutcome } from '../../src/telephony/carrier.ts'
import { withCircuit } from '../../src/telephony/circuit-carrier.ts'
import { createSipCarrier } from '../../src/telephony/sip-carrier.ts'
import { createFailoverCarrier, type Gateway } from '../../src/telephony/trunks/failover-carrier.ts'
import { parseTrunkUri } from '../../src/telephony/trunk-uri.ts'
import { freeTcpPort, freeUdpPort } from '../support/free-port.ts'
import { audioSdp, fastTiming, startAgent } from '../support/sip/test-agents.ts'

/** What a gateway does with an INVITE, or the address of one that none reaches. */
type Way =
  | { readonly kind: 'answers'; readonly respond: (invite: IncomingInvite) => void }
  | { readonly kind: 'unreached'; readonly uri: () => Promise<string> }

interface Case {
  readonly name: string
  readonly way: Way
  /** Whether another gateway may be tried. */
  readonly goesOn: boolean
  /** What becomes of the call if both gateways do so. */
  readonly both: 'congested' | 'trunk_down' | 'failed' | 'no_answer' | 'busy'
}

const rejects = (status: number, headers: Record<string, string> = {}): Way => ({
  kind: 'answers',
  respond: (invite) => {
    invite.reject(status, 'As the test says', headers)
  },
})

const ringsThen = (status: number, headers: Record<string, string> = {}): Way => ({
  kind: 'answers',
  respond: (invite) => {
    invite.provisional(180, 'Ringing')
    invite.reject(status, 'As the test says', headers)
  },
})

const showsProgressThen = (status: number): Way => ({
  kind: 'answers',
  respond: (invite) => {
    invite.provisional(183, 'Session Progress')
    invite.reject(status, 'As the test says')
  },
})

const unreached = (uri: () => Promise<string>): Way => ({ kind: 'unreached', uri })

const challenge = {
  'WWW-Authenticate': 'Digest realm="carrier", nonce="n", qop="auth", algorithm=MD5',
}
const retry = { 'Retry-After': '3' }

const cases: readonly Case[] = [
  {
    name: 'a name without an address',
    way: unreached(async () => 'sip:gateway.invalid'),
    goesOn: true,
    both: 'trunk_down',
  },
  {
    name: 'a refused datagram',
    way: unreached(async () => `sip:127.0.0.1:${await freeUdpPort()}`),
    goesOn: true,
    both: 'trunk_down',
  },
  {
    name: 'a refused TCP connection',
    way: unreached(async () => `sip:127.0.0.1:${await freeTcpPort()};transport=tcp`),
    goesOn: true,
    both: 'trunk_down',
  },
  {
    name: 'a refused TLS connection',
    way: unreached(async () => `sip:127.0.0.1:${await freeTcpPort()};transport=tls`),
    goesOn: true,
    both: 'trunk_down',
  },
  { name: '401 to our password', way: rejects(401, challenge), goesOn: true, both: 'trunk_down' },
  { name: '503', way: rejects(503), goesOn: true, both: 'congested' },
  { name: '503 with Retry-After', way: rejects(503, retry), goesOn: true, both: 'congested' },
  { name: '500 with Retry-After', way: rejects(500, retry), goesOn: true, both: 'congested' },
  { name: '500', way: rejects(500), goesOn: true, both: 'failed' },
  { name: '502', way: rejects(502), goesOn: true, both: 'failed' },
  { name: '504', way: rejects(504), goesOn: true, both: 'failed' },
  { name: '408', way: rejects(408), goesOn: true, both: 'no_answer' },
  { name: '503 after 180', way: ringsThen(503, retry), goesOn: false, both: 'failed' },
  { name: '500 after 183', way: showsProgressThen(500), goesOn: false, both: 'failed' },
  { name: '504 after 180', way: ringsThen(504), goesOn: false, both: 'failed' },
  { name: '408 after 180', way: ringsThen(408), goesOn: false, both: 'no_answer' },
  { name: 'silence', way: { kind: 'unreached', uri: silentUdp }, goesOn: false, both: 'failed' },
  {
    name: 'a connection that is reset after the INVITE',
    way: { kind: 'unreached', uri: resettingTcp },
    goesOn: false,
    both: 'failed',
  },
  {
    name: 'ringing without an end',
    way: {
      kind: 'answers',
      respond: (invite) => {
        invite.provisional(180, 'Ringing')
      },
    },
    goesOn: false,
    both: 'no_answer',
  },
  {
    name: '100 and nothing more',
    way: { kind: 'answers', respond: () => undefined },
    goesOn: false,
    both: 'no_answer',
  },
  ...[486, 600, 603].map((status): Case => ({
    name: `${status}`,
    way: rejects(status),
    goesOn: false,
    both: 'busy',
  })),
  { name: '486 after 180', way: ringsThen(486), goesOn: false, both: 'busy' },
  { name: '480', way: rejects(480), goesOn: false, both: 'no_answer' },
  ...[403, 404, 484, 488, 501, 604].map((status): Case => ({
    name: `${status}`,
    way: rejects(status),
    goesOn: false,
    both: 'failed',
  })),
]

/** Set by each test: its sockets close with it. */
let cleanups: (() => void)[] = []

async function silentUdp(): Promise<string> {
  const { createSocket } = await import('node:dgram')
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  cleanups.push(() => socket.close())
  return `sip:127.0.0.1:${socket.address().port}`
}

async function resettingTcp(): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.resetAndDestroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => server.close())
  return `sip:127.0.0.1:${(server.address() as AddressInfo).port};transport=tcp`
}

interface Site {
  readonly uri: string
  readonly invites: () => number
}

const openSite = async (t: TestContext, way: Way): Promise<Site> => {
  if (way.kind === 'unreached') {
    const uri = await way.uri()
    return { uri, invites: () => 0 }
  }
  const agent = await startAgent(t)
  const calls = new Set<string>()
  let invites = 0
  agent.onInvite((invite) => {
    invites += 1
    calls.add(invite.request.uri)
    way.respond(invite)
  })
  return { uri: `sip:127.0.0.1:${agent.localPort}`, invites: () => invites }
}

const good: Way = {
  kind: 'answers',
  respond: (invite) => {
    invite.provisional(180, 'Ringing')
    void invite.accept(audioSdp())
  },
}

const dialOver = async (t: TestContext, sites: readonly Site[]) => {
  const userAgent = createUserAgent({
    sources: anySource,
    bindAddress: '127.0.0.1',
    timing: fastTiming,
  })
  await userAgent.start()
  t.after(() => userAgent.stop(50))
  const faults: string[] = []
  const gateways = sites.map(({ uri }): Gateway => {
    const trunk = {
      ...parseTrunkUri(uri),
      credentials: { username: 'outdial', password: 'right' },
    }
    const sip = createSipCarrier({ userAgent, trunk, logger: silentLogger, responseTimeoutMs: 500 })
    const circuit = {
      downReason: () => undefined,
      report: async ({ cause }: { cause: string }) => void faults.push(cause),
      prove: () => Promise.resolve(),
    }
    return { uri, carrier: withCircuit(sip, circuit), downReason: () => undefined }
  })
  const carrier = createFailoverCarrier({
    gatewaysOf: (name) => (name === 'carrier' ? gateways : []),
    now: () => new Date(),
    monotonicMs: () => performance.now(),
  })
  const outcome = await carrier.dial(
    {
      callId: '0198f000-0000-7000-8000-000000000001',
      to: '+12025550100',
      callerId: '+12025550199',
      ringTimeoutMs: 700,
      localMedia: { address: '127.0.0.1', port: 40_000 },
      mayInvite: () => true,
      trunk: 'carrier',
    },
    new AbortController().signal,
  )
  if (outcome.kind === 'answered') await outcome.leg.hangUp()
  return { outcome, faults }
}

const fateOf = (outcome: DialOutcome): string => {
  if (outcome.kind === 'answered') return 'answered'
  const ending = endingOfFailure(outcome.failure, undefined)
  if (ending.kind !== 'ended') return ending.kind
  const { status, answerStatus } = ending.ending
  return status === 'completed' ? (answerStatus ?? '') : status
}

for (const { name, way, goesOn, both } of cases)
  test(`${name}: ${goesOn ? 'the next gateway rings' : 'no other gateway hears of the call'}`, async (t) => {
    cleanups = []
    t.after(() => cleanups.forEach((close) => close()))
    const [bad, second] = [await openSite(t, way), await openSite(t, good)]
    const one = await dialOver(t, [bad, second])
    assert.equal(second.invites(), goesOn ? 1 : 0)
    assert.equal(fateOf(one.outcome), goesOn ? 'answered' : both, JSON.stringify(one.outcome))
    assert.deepEqual(
      one.outcome.tries?.map(({ gateway }) => gateway),
      goesOn ? [bad.uri, second.uri] : [bad.uri],
      'every try is kept',
    )
    const pair = [await openSite(t, way), await openSite(t, way)]
    const other = await dialOver(t, pair)
    assert.equal(fateOf(other.outcome), both)
    assert.equal(other.outcome.tries?.length, goesOn ? 2 : 1)
    assert.ok(other.outcome.tries.filter(({ rang }) => rang).length <= 1, 'one phone at most rang')
  })

test('three gateways are tried at most, and the next trunk after those of the first', async (t) => {
  cleanups = []
  const dead = await Promise.all(Array.from({ length: 4 }, async () => openSite(t, rejects(503))))
  const many = await dialOver(t, dead)
  assert.equal(many.outcome.tries?.length, 3)
  assert.equal(fateOf(many.outcome), 'congested')
})
