// Runs beside others: it waits for most of its 20 s.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { endingOfFailure } from '../../src/live-call/call/call-ending.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { createDigestServer } from '../../src/sip/digest/digest-server.ts'
import { anySource } from '../../src/sip/gate/sources.ts'
import { headerOf } from '../../src/sip/message/message.ts'
import { createUserAgent } from '../../src/sip/user-agent/user-agent.ts'
import type { IncomingInvite } from '../../src/sip/user-agent/user-agent-types.ts'
import type { DialFailure, DialOutcome, DialRequest } from '../../src/telephony/carrier.ts'
import { createSipCarrier } from '../../src/telephony/sip-carrier.ts'
import { createFailoverCarrier, type Gateway } from '../../src/telephony/trunks/failover-carrier.ts'
import { parseTrunkUri } from '../../src/telephony/trunk-uri.ts'
import { audioSdp, fastTiming, startAgent } from '../support/sip/test-agents.ts'

/*
 * Every way in which a gateway ends a call, at every stage that the call can have reached, with another gateway that
 * would ring: the rule below says what must become of it.
 */

const credentials = { username: 'outdial', password: 'right' }

const stages = ['at once', 'after 100', 'after a challenge', 'after 180', 'after 183'] as const
type Stage = (typeof stages)[number]

const technical = [408, 500, 502, 503, 504]
const declines = [486, 600, 603]
const aboutTheNumber = [403, 404, 480, 484, 488, 501, 604]
const endings = [...technical, ...declines, ...aboutTheNumber, 'silence'] as const
type Ending = (typeof endings)[number]

/** The rule of D16. A challenge that was answered shows that a server, and no phone, had the INVITE. */
const mayGoOn = (stage: Stage, ending: Ending): boolean => {
  const hasRung = stage === 'after 180' || stage === 'after 183'
  if (ending === 'silence' || hasRung) return false
  // A 403 to a password that was not proven yet is taken for a wrong one, but only 401 and 407 go on.
  return technical.includes(ending)
}

const opensAt = (stage: Stage) => {
  const server = createDigestServer(credentials, { realm: 'carrier' })
  return (invite: IncomingInvite): boolean => {
    if (stage === 'after a challenge') {
      const { method, uri, body } = invite.request
      const proof = headerOf(invite.request, 'proxy-authorization')
      if (!server.verify(proof, { method, uri, body })) {
        invite.reject(407, 'Proxy Authentication Required', {
          'Proxy-Authenticate': server.challenge(),
        })
        return false
      }
    }
    if (stage === 'after 100') invite.provisional(100, 'Trying')
    if (stage === 'after 180') invite.provisional(180, 'Ringing')
    if (stage === 'after 183') invite.provisional(183, 'Session Progress')
    return true
  }
}

const failingSite = async (t: TestContext, stage: Stage, ending: Ending) => {
  const agent = await startAgent(t)
  const opens = opensAt(stage)
  agent.onInvite((invite) => {
    if (opens(invite) && ending !== 'silence') invite.reject(ending, 'As the test says')
  })
  return `sip:127.0.0.1:${agent.localPort}`
}

const ringingSite = async (t: TestContext) => {
  const agent = await startAgent(t)
  let rings = 0
  agent.onInvite((invite) => {
    rings += 1
    invite.provisional(180, 'Ringing')
    void invite.accept(audioSdp())
  })
  return { uri: `sip:127.0.0.1:${agent.localPort}`, rings: () => rings }
}

const request = (): DialRequest => ({
  callId: '0198f000-0000-7000-8000-000000000001',
  to: '+12025550100',
  callerId: '+12025550199',
  ringTimeoutMs: 700,
  localMedia: { address: '127.0.0.1', port: 40_000 },
  mayInvite: () => true,
  trunk: 'carrier',
})

const dialOver = async (t: TestContext, uris: readonly string[]): Promise<DialOutcome> => {
  const userAgent = createUserAgent({
    sources: anySource,
    bindAddress: '127.0.0.1',
    timing: fastTiming,
  })
  await userAgent.start()
  t.after(() => userAgent.stop(50))
  const gateways = uris.map((uri): Gateway => {
    const trunk = { ...parseTrunkUri(uri), credentials }
    const logger = silentLogger
    const carrier = createSipCarrier({ userAgent, trunk, logger, responseTimeoutMs: 2_000 })
    return { uri, carrier, downReason: () => undefined }
  })
  const carrier = createFailoverCarrier({
    gatewaysOf: () => gateways,
    now: () => new Date(),
    monotonicMs: () => performance.now(),
  })
  const outcome = await carrier.dial(request(), new AbortController().signal)
  if (outcome.kind === 'answered') await outcome.leg.hangUp()
  return outcome
}

for (const stage of stages)
  test(`a gateway that fails ${stage}: the other rings only where no phone can have rung`, async (t) => {
    for (const ending of endings) {
      const name = `${ending} ${stage}`
      const bad = await failingSite(t, stage, ending)
      const good = await ringingSite(t)
      const outcome = await dialOver(t, [bad, good.uri])
      const goesOn = mayGoOn(stage, ending)
      assert.equal(good.rings(), goesOn ? 1 : 0, name)
      assert.equal(outcome.kind, goesOn ? 'answered' : 'failed', name)
      const ladder = outcome.tries ?? []
      assert.deepEqual(
        ladder.map(({ gateway }) => gateway),
        goesOn ? [bad, good.uri] : [bad],
        `${name}: the ladder has every gateway in its order`,
      )
      assert.ok(ladder.filter(({ rang }) => rang).length <= 1, `${name}: one phone at most`)
      if (typeof ending === 'number') assert.equal(ladder[0]?.sipStatus, ending, name)
      for (const [index, step] of ladder.entries()) {
        assert.ok(step.reason.length > 0, name)
        assert.ok(step.startedAt <= step.endedAt, name)
        const before = ladder[index - 1]
        if (before) assert.ok(before.endedAt <= step.startedAt, `${name}: one after the other`)
      }
      if (outcome.kind === 'failed' && declines.includes(Number(ending))) {
        const end = endingOfFailure(outcome.failure, undefined)
        assert.ok(end.kind === 'ended' && end.ending.answerStatus === 'busy', name)
      }
    }
  })

const unreachable: DialFailure = {
  cause: 'no_route',
  reason: 'The SIP trunk could not be reached.',
  rang: false,
  invited: false,
}

/** Gateways that each fail after so many seconds, on a clock that only they move. */
const playSlowGateways = async (seconds: readonly number[]) => {
  let nowMs = 0
  const startedMs: number[] = []
  const gateways = seconds.map((took, index): Gateway => ({
    uri: `sip:${index}.example`,
    downReason: () => undefined,
    carrier: {
      dial: async () => {
        startedMs.push(nowMs)
        nowMs += took * 1_000
        return { kind: 'failed', failure: unreachable }
      },
    },
  }))
  const carrier = createFailoverCarrier({
    gatewaysOf: () => gateways,
    now: () => new Date(nowMs),
    monotonicMs: () => nowMs,
  })
  await carrier.dial(request(), new AbortController().signal)
  return startedMs
}

test('no gateway is tried once twelve seconds have passed, nor after three', async () => {
  assert.deepEqual(await playSlowGateways([4, 4, 4, 4]), [0, 4_000, 8_000])
  assert.deepEqual(await playSlowGateways([6, 6, 6]), [0, 6_000])
  assert.deepEqual(await playSlowGateways([12, 1]), [0])
  assert.deepEqual(await playSlowGateways([11, 30, 1]), [0, 11_000])
})
