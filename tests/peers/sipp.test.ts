// Runs beside others: it waits for most of its 10 s.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { silentLogger } from '../../src/runtime/logger.ts'
import { anySource } from '../../src/sip/gate/sources.ts'
import { createUserAgent } from '../../src/sip/user-agent/user-agent.ts'
import type {
  CallLeg,
  DialFailure,
  DialOutcome,
  DialProgress,
  NegotiatedMedia,
} from '../../src/telephony/carrier.ts'
import { createSipCarrier } from '../../src/telephony/sip-carrier.ts'
import { parseTrunkUri } from '../../src/telephony/trunk-uri.ts'
import { missingSipp, startSipp } from './sipp-peer.ts'

const missing = missingSipp()
const options = missing === undefined ? {} : { skip: missing }

interface DialOptions {
  readonly userInfo?: string
  readonly ringTimeoutMs?: number
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: DialProgress) => void
}

/** Dials a SIPp callee through the production carrier. */
const dialSipp = async (
  t: TestContext,
  scenario: string,
  given: DialOptions = {},
): Promise<{ readonly outcome: DialOutcome; readonly succeeded: Promise<void> }> => {
  const userAgent = createUserAgent({ sources: anySource, bindAddress: '127.0.0.1' })
  await userAgent.start()
  t.after(() => userAgent.stop(100))
  const peer = await startSipp(scenario)
  const trunk = parseTrunkUri(`sip:${given.userInfo ?? ''}127.0.0.1:${peer.port}`)
  const carrier = createSipCarrier({ userAgent, trunk, logger: silentLogger })
  const outcome = await carrier.dial(
    {
      callId: '0198f000-0000-7000-8000-000000000001',
      to: '+12025550100',
      callerId: '+12025550199',
      ringTimeoutMs: given.ringTimeoutMs ?? 10_000,
      localMedia: { address: '127.0.0.1', port: 40_000 },
      mayInvite: () => true,
      ...(given.onProgress === undefined ? {} : { onProgress: given.onProgress }),
    },
    given.signal ?? new AbortController().signal,
  )
  return { outcome, succeeded: peer.succeeded }
}

const failureOf = (outcome: DialOutcome): DialFailure => {
  if (outcome.kind !== 'failed') assert.fail('the call was answered')
  return outcome.failure
}

const legOf = (outcome: DialOutcome): CallLeg => {
  if (outcome.kind !== 'answered') assert.fail(outcome.failure.reason)
  return outcome.leg
}

const refusals = [
  { scenario: 'refuse-486', status: '486 Busy Here', cause: 'busy' },
  { scenario: 'refuse-404', status: '404 Not Found', cause: 'rejected' },
  { scenario: 'refuse-603', status: '603 Decline', cause: 'busy' },
  { scenario: 'refuse-503', status: '503 Service Unavailable', cause: 'congestion' },
  { scenario: 'redirect-302', status: '302 Moved Temporarily', cause: 'rejected' },
] as const

for (const { scenario, status, cause } of refusals) {
  test(`SIPp refuses with ${status}`, options, async (t) => {
    const { outcome, succeeded } = await dialSipp(t, scenario)
    const failure = failureOf(outcome)
    assert.equal(failure.cause, cause)
    assert.ok(failure.reason.startsWith(`SIP ${status}`), failure.reason)
    assert.equal(failure.retryAfterMs, cause === 'congestion' ? 30_000 : undefined)
    await succeeded
  })
}

test('SIPp answers and is hung up', options, async (t) => {
  const { outcome, succeeded } = await dialSipp(t, 'answer')
  const leg = legOf(outcome)
  assert.equal(leg.media.codec, 'pcmu')
  await leg.hangUp()
  await succeeded
})

test('SIPp rings and is never answered: CANCEL, 487', options, async (t) => {
  const { outcome, succeeded } = await dialSipp(t, 'no-answer', { ringTimeoutMs: 1500 })
  const failure = failureOf(outcome)
  assert.deepEqual([failure.cause, failure.sipStatus, failure.rang], ['no_answer', 487, true])
  await succeeded
})

test('SIPp answers while our CANCEL is on its way: ACK and BYE', options, async (t) => {
  const abort = new AbortController()
  const { outcome, succeeded } = await dialSipp(t, 'cancel-race', {
    signal: abort.signal,
    onProgress: ({ kind }) => {
      if (kind === 'ringing') abort.abort('cancel_requested')
    },
  })
  assert.equal(failureOf(outcome).cause, 'cancelled')
  await succeeded
})

test('SIPp checks our digest credentials', options, async (t) => {
  const { outcome, succeeded } = await dialSipp(t, 'digest-401', { userInfo: 'trunk:s3cret@' })
  await legOf(outcome).hangUp()
  await succeeded
})

test('SIPp misses our ACK, gets another, and hangs up', options, async (t) => {
  const { outcome, succeeded } = await dialSipp(t, 'lost-ack')
  assert.deepEqual(await legOf(outcome).ended, { by: 'callee' })
  await succeeded
})

test('SIPp sends early media reliably, and no SDP in its 200', options, async (t) => {
  const progress: DialProgress['kind'][] = []
  const { outcome, succeeded } = await dialSipp(t, 'early-media', {
    onProgress: ({ kind }) => progress.push(kind),
  })
  const leg = legOf(outcome)
  assert.ok(progress.includes('early_media'))
  assert.equal(leg.media.codec, 'pcmu')
  await leg.hangUp()
  await succeeded
})

test('SIPp asks for a longer session by 422', options, async (t) => {
  const { outcome, succeeded } = await dialSipp(t, 'min-se')
  await legOf(outcome).hangUp()
  await succeeded
})

test('SIPp puts us on hold and takes us back', options, async (t) => {
  const { outcome, succeeded } = await dialSipp(t, 'hold')
  const leg = legOf(outcome)
  const directions: NegotiatedMedia['direction'][] = []
  await new Promise<void>((resolve) => {
    leg.onMediaChange(({ direction }) => {
      directions.push(direction)
      if (direction === 'sendrecv') resolve()
    })
  })
  assert.deepEqual(directions, ['recvonly', 'sendrecv'])
  await leg.hangUp()
  await succeeded
})

for (const { scenario, outcome: expected } of [
  { scenario: 'refer', outcome: { kind: 'transferred' } },
  {
    scenario: 'refer-busy',
    outcome: { kind: 'refused', sipStatus: 486, reason: 'SIP 486 Busy Here' },
  },
  {
    scenario: 'refer-refused',
    outcome: { kind: 'refused', sipStatus: 405, reason: 'SIP 405 Method Not Allowed' },
  },
] as const) {
  test(`SIPp is asked to transfer the call: ${scenario}`, options, async (t) => {
    const { outcome, succeeded } = await dialSipp(t, scenario)
    const leg = legOf(outcome)
    assert.deepEqual(await leg.transfer('+12025550177'), expected)
    await leg.hangUp()
    await succeeded
  })
}
