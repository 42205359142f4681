import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headerOf, type Header, type SipRequest } from '../../src/sip/message/message.ts'
import { createDigestServer } from '../../src/sip/digest/digest-server.ts'
import { createDigestPolicy } from '../../src/sip/digest/digest-policy.ts'
import { createRegistration, type Registration } from '../../src/telephony/trunks/registration.ts'
import { createManualTime } from '../support/manual-time.ts'
import { startAgent, startPeer } from '../support/sip/test-agents.ts'
import type { TestContext } from 'node:test'

const credentials = { username: 'acct', password: 'right' }

/** A registration whose time the test moves, at a registrar that the test plays. */
const open = async (t: TestContext, expiresSeconds = 600, proxy = false) => {
  const [agent, peer] = [await startAgent(t), await startPeer(t)]
  const time = createManualTime()
  const waiting = new Set<() => void>()
  const registrar = peer.target.replace(/sip:[^@]*@/, 'sip:')
  const registration = createRegistration(
    agent,
    {
      registrar: proxy ? 'sip:registrar.invalid' : registrar,
      address: 'sip:acct@pbx.example',
      outboundProxy: proxy ? registrar : undefined,
      credentials,
      digestPolicy: createDigestPolicy(),
      expiresSeconds,
      instance: '0198f000-0000-7000-8000-000000000001',
    },
    {
      time,
      onChange: () => {
        for (const each of waiting) each()
      },
    },
  )
  const until = (state: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (registration.state().state !== state) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
    })
  return { peer, registration, time, until }
}

const grant = (request: SipRequest, seconds: number, more: readonly Header[] = []): Header[] => [
  ['contact', `${(headerOf(request, 'contact') ?? '').replace(/;.*$/, '')};expires=${seconds}`],
  ...more,
]

const ended = async (registration: Registration, answer: () => Promise<unknown>): Promise<void> => {
  const stopped = registration.stop()
  await answer()
  await stopped
}

test('registers with credentials, refreshes at half of what was granted, and deregisters', async (t) => {
  const { peer, registration, time, until } = await open(t)
  const server = createDigestServer(credentials, { realm: 'carrier' })
  registration.start()
  const first = await peer.nextRequest('REGISTER')
  assert.match(
    headerOf(first, 'contact') ?? '',
    /;expires=600;\+sip\.instance="<urn:uuid:0198f000-/,
  )
  assert.equal(headerOf(first, 'supported'), 'path')
  peer.reply(first, 401, { toTag: 'r', headers: [['www-authenticate', server.challenge()]] })
  const signed = await peer.nextRequest('REGISTER')
  assert.ok(server.verify(headerOf(signed, 'authorization'), signed))
  assert.equal(headerOf(signed, 'call-id'), headerOf(first, 'call-id'))
  peer.reply(signed, 200, {
    toTag: 'r',
    headers: grant(signed, 100, [
      ['service-route', '<sip:edge.example;lr>, <sip:core.example;lr>'],
    ]),
  })
  await until('registered')
  assert.deepEqual(registration.routes(), ['sip:edge.example;lr', 'sip:core.example;lr'])
  time.advance(49_000)
  assert.equal(peer.heardOnce.filter((method) => method === 'REGISTER').length, 2)
  time.advance(2_000)
  const refresh = await peer.nextRequest('REGISTER')
  assert.equal(headerOf(refresh, 'call-id'), headerOf(first, 'call-id'))
  peer.reply(refresh, 200, { toTag: 'r', headers: grant(refresh, 100) })
  await until('registered')
  await ended(registration, async () => {
    const bye = await peer.nextRequest('REGISTER')
    assert.match(headerOf(bye, 'contact') ?? '', /;expires=0/)
    peer.reply(bye, 200, { toTag: 'r' })
  })
})

test('takes the interval that a 423 demands, and no endless series of them', async (t) => {
  const { peer, registration, until } = await open(t, 60)
  registration.start()
  const short = await peer.nextRequest('REGISTER')
  peer.reply(short, 423, { toTag: 'r', headers: [['min-expires', '900']] })
  const longer = await peer.nextRequest('REGISTER')
  assert.equal(headerOf(longer, 'expires'), '900')
  for (const seconds of [1000, 1100, 1200]) {
    const next = seconds === 1000 ? longer : await peer.nextRequest('REGISTER')
    peer.reply(next, 423, { toTag: 'r', headers: [['min-expires', String(seconds)]] })
  }
  await until('failed')
  assert.match(registration.state().reason ?? '', /SIP 423/)
  await registration.stop()
})

test('a refused password fails with its remedy, and is tried again later; a lapsed one is no registration', async (t) => {
  const { peer, registration, time, until } = await open(t)
  registration.start()
  const refused = await peer.nextRequest('REGISTER')
  peer.reply(refused, 403, { toTag: 'r' })
  await until('failed')
  assert.match(registration.state().reason ?? '', /SIP 403 Forbidden: check user, password/)
  time.advance(5_000)
  const again = await peer.nextRequest('REGISTER')
  peer.reply(again, 200, { toTag: 'r', headers: grant(again, 60) })
  await until('registered')
  time.advance(30_000)
  const unlucky = await peer.nextRequest('REGISTER')
  peer.reply(unlucky, 503, { toTag: 'r' })
  time.advance(31_000)
  assert.equal(registration.state().state, 'failed')
  void registration.stop()
})

test('goes through the outbound proxy', async (t) => {
  const { peer, registration, until } = await open(t, 600, true)
  registration.start()
  const request = await peer.nextRequest('REGISTER')
  assert.equal(request.uri, 'sip:registrar.invalid')
  assert.match(headerOf(request, 'route') ?? '', /^<sip:127\.0\.0\.1:\d+;lr>$/)
  peer.reply(request, 200, { toTag: 'r', headers: grant(request, 600) })
  await until('registered')
  await ended(registration, async () => {
    peer.reply(await peer.nextRequest('REGISTER'), 200, { toTag: 'r' })
  })
})
