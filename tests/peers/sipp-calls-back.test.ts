import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { freeUdpPort } from '../support/free-port.ts'
import { startCallsBackRig } from '../support/calls-back-rig.ts'
import { missingSipp, startSippCaller } from './sipp-peer.ts'

const missing = missingSipp()
const options = missing === undefined ? {} : { skip: missing }
const message = { kind: 'message', text: 'We will call you again.' } as const

/** SIPp is the trunk, and calls us as one of these scenarios. */
const callUs = async (
  t: TestContext,
  scenario: string,
  more: Partial<Parameters<typeof startCallsBackRig>[1]> = {},
) => {
  const trunkPort = await freeUdpPort()
  const rig = await startCallsBackRig(t, { trunkPort, ...more })
  const caller = await startSippCaller(scenario, { from: trunkPort, to: rig.port })
  await caller.succeeded
  const [row] = await rig.noted(1)
  return row?.result
}

test('SIPp calls back and is declined', options, async (t) => {
  assert.equal(await callUs(t, 'call-back-declined'), 'declined')
})

test('SIPp calls back, hears a message and gets a BYE', options, async (t) => {
  assert.equal(await callUs(t, 'call-back-message', { installation: message }), 'message')
})

test('SIPp calls back and cancels while it rings', options, async (t) => {
  const speech = {
    clipOf: (_text: string, signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')))
      }),
  }
  const result = await callUs(t, 'call-back-cancelled', { installation: message, speech })
  assert.equal(result, 'cancelled')
})
