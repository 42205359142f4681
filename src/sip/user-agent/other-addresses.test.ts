import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { audioSdp, call, startAgent, startPeer } from '../../../tests/support/sip/test-agents.ts'
import { cseqOf } from '../message/headers.ts'
import type { Destination, TransportProtocol } from '../message/destination.ts'
import { headerOf } from '../message/message.ts'
import type { SipResolver } from '../transport/resolver.ts'
import { createRedirection } from './redirection.ts'
import { createResponse } from '../message/responses.ts'

const target = 'sip:+12025550100@carrier.example.com'

/** A name service that knows one name, with addresses in this order; addresses stand for themselves. */
const addresses = (...ports: readonly (readonly [TransportProtocol, number])[]): SipResolver => ({
  locate: async ({ host, port = 5060 }) =>
    host === 'carrier.example.com'
      ? ports.map(([protocol, each]): Destination => ({
          protocol,
          address: '127.0.0.1',
          port: each,
        }))
      : [{ protocol: 'udp', address: host, port }],
})

const closedPort = async (): Promise<number> => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

for (const protocol of ['tcp', 'udp'] as const)
  test(`a call goes to the next address where the first refuses (${protocol})`, async (t) => {
    const peer = await startPeer(t)
    const resolver = addresses([protocol, await closedPort()], ['udp', peer.port])
    const agent = await startAgent(t, { resolver })
    const result = call(agent, target)
    const invite = await peer.nextRequest('INVITE')
    peer.reply(invite, 486, { toTag: 'a' })
    assert.equal((await result).kind, 'refused')
    // The address that refused is tried last now: this call does not wait for it.
    const again = call(agent, target)
    peer.reply(await peer.nextRequest('INVITE'), 486, { toTag: 'b' })
    await again
  })

test('503 before any 18x leads to the next address, in one call', async (t) => {
  const [full, peer] = [await startPeer(t), await startPeer(t)]
  const agent = await startAgent(t, { resolver: addresses(['udp', full.port], ['udp', peer.port]) })
  const result = call(agent, target)
  const first = await full.nextRequest('INVITE')
  full.reply(first, 100)
  full.reply(first, 503, { toTag: 'full' })
  const second = await peer.nextRequest('INVITE')
  assert.equal(headerOf(second, 'call-id'), headerOf(first, 'call-id'))
  assert.equal(cseqOf(second).sequence, cseqOf(first).sequence + 1)
  peer.reply(second, 200, { toTag: 'a', body: audioSdp() })
  assert.equal((await result).kind, 'answered')
})

test('no other address is tried after an 18x, after silence, or after an answer about the number', async (t) => {
  const [first, other] = [await startPeer(t), await startPeer(t)]
  const resolver = addresses(['udp', first.port], ['udp', other.port])
  for (const status of [180, 486, 404, 500]) {
    const agent = await startAgent(t, { resolver })
    const result = call(agent, target)
    const invite = await first.nextRequest('INVITE')
    if (status === 180) first.reply(invite, 180, { toTag: 'a' })
    first.reply(invite, status === 180 ? 503 : status, { toTag: 'a' })
    assert.equal((await result).kind, 'refused')
  }
  const agent = await startAgent(t, { resolver })
  const silent = await call(agent, target, { responseTimeoutMs: 50 })
  assert.equal(silent.kind === 'unreachable' && silent.invited, true)
  assert.deepEqual(other.heard, [])
  // A later call prefers the address that was not silent.
  const later = call(agent, target)
  const invite = await other.nextRequest('INVITE')
  other.reply(invite, 486, { toTag: 'b' })
  assert.equal((await later).kind, 'refused')
})

test('the last 503 is the result where every address has one', async (t) => {
  const [one, two] = [await startPeer(t), await startPeer(t)]
  const agent = await startAgent(t, { resolver: addresses(['udp', one.port], ['udp', two.port]) })
  const result = call(agent, target)
  one.reply(await one.nextRequest('INVITE'), 503, { toTag: 'a' })
  two.reply(await two.nextRequest('INVITE'), 503, { toTag: 'b' })
  const refused = await result
  assert.equal(refused.kind === 'refused' && refused.response.status, 503)
})

test('a 302 is followed to an allowed host with the same number, and to no other', async (t) => {
  const [first, second] = [await startPeer(t), await startPeer(t)]
  const agent = await startAgent(t)
  const contacts = [
    ['contact', `<sip:+12025550199@127.0.0.1:${second.port}>`],
    ['contact', `<sip:+12025550100@192.0.2.1:${second.port}>;q=0.9`],
    ['contact', `<sip:+12025550100@127.0.0.1:${second.port}>;q=0.5`],
  ] as const
  const redirected = call(agent, first.target, { redirectHosts: ['127.0.0.1'] })
  const invite = await first.nextRequest('INVITE')
  first.send(createResponse(invite, 302, { toTag: 'a', headers: contacts }))
  const next = await second.nextRequest('INVITE')
  assert.equal(next.uri, `sip:+12025550100@127.0.0.1:${second.port}`)
  assert.equal(headerOf(next, 'to'), headerOf(invite, 'to'))
  second.reply(next, 200, { toTag: 'b', body: audioSdp() })
  assert.equal((await redirected).kind, 'answered')

  const strict = call(agent, first.target)
  const again = await first.nextRequest('INVITE')
  first.send(createResponse(again, 302, { toTag: 'c', headers: contacts }))
  const refused = await strict
  assert.equal(refused.kind === 'refused' && refused.response.status, 302)
})

test('at most three redirects are followed, and none in a circle', () => {
  const to = (port: number) => `sip:+12025550100@127.0.0.1:${port}`
  const response = (port: number) =>
    createResponse(
      { kind: 'request', method: 'INVITE', uri: to(1), headers: [], body: Buffer.alloc(0) },
      302,
      { headers: [['contact', `<${to(port)}>`]] },
    )
  const redirection = createRedirection(to(1), ['127.0.0.1'])
  assert.equal(redirection.next(response(1)), undefined)
  for (const port of [2, 3, 4]) assert.equal(redirection.next(response(port)), to(port))
  assert.equal(redirection.next(response(5)), undefined)
})

test('an INVITE above 1,300 bytes goes by TCP where the server takes it, else as a datagram', async (t) => {
  const headers = { 'X-Long': 'x'.repeat(900) }
  const callee = await startAgent(t, { listensOnTcp: true })
  const transports: string[] = []
  callee.onInvite((incoming) => {
    transports.push(headerOf(incoming.request, 'via')?.slice(0, 11) ?? '')
    incoming.reject(486, 'Busy Here')
  })
  const caller = await startAgent(t)
  const toCallee = `sip:+12025550100@127.0.0.1:${callee.localPort}`
  await call(caller, toCallee)
  await call(caller, toCallee, { headers })
  assert.deepEqual(transports, ['SIP/2.0/UDP', 'SIP/2.0/TCP'])

  const peer = await startPeer(t)
  const result = call(caller, peer.target, { headers })
  const invite = await peer.nextRequest('INVITE')
  assert.match(headerOf(invite, 'via') ?? '', /^SIP\/2\.0\/UDP/)
  peer.reply(invite, 486, { toTag: 'a' })
  await result
})
