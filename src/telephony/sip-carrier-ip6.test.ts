import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import { silentLogger } from '../runtime/logger.ts'
import { anySource } from '../sip/gate/sources.ts'
import { createUserAgent } from '../sip/user-agent/user-agent.ts'
import { createSipCarrier } from './sip-carrier.ts'
import { bindAddressFor, parseTrunkUri } from './trunk-uri.ts'

const hasIp6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
)

test('an IPv6 trunk is offered audio over IPv6', { skip: !hasIp6 }, async (t) => {
  const callee = createUserAgent({ sources: anySource, bindAddress: '::1' })
  await callee.start()
  t.after(() => callee.stop(50))
  const trunk = parseTrunkUri(`sip:[::1]:${callee.localPort}`)
  const userAgent = createUserAgent({ sources: anySource, bindAddress: bindAddressFor(trunk) })
  await userAgent.start()
  t.after(() => userAgent.stop(50))
  const offers: (string | undefined)[] = []
  callee.onInvite((incoming) => {
    offers.push(incoming.offer)
    incoming.reject(486, 'Busy Here')
  })
  const carrier = createSipCarrier({ userAgent, trunk, logger: silentLogger })
  assert.ok((await carrier.ping()).isAlive)
  const outcome = await carrier.dial(
    {
      callId: '0198f000-0000-7000-8000-000000000001',
      to: '+12025550100',
      callerId: '+12025550199',
      ringTimeoutMs: 5000,
      localMedia: { address: '::', port: 40_000 },
      mayInvite: () => true,
    },
    new AbortController().signal,
  )
  assert.ok(outcome.kind === 'failed')
  assert.equal(outcome.failure.cause, 'busy')
  assert.match(offers[0] ?? '', /c=IN IP6 ::1\r\n/)
})
