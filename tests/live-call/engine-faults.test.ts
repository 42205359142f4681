// Runs beside few others: it waits for most of its 36 s.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { unrecognisedText } from '../../src/call-text/unrecognised-text.ts'
import { listTurnLatencies, listUsage } from '../../src/domains/results/usage-store.ts'
import type { CallPlan } from '../../src/live-call/call/live-call-port.ts'
import type { DialableCall } from '../../src/domains/calls/lifecycle/hand-over.ts'
import { personaHello } from '../../src/telephony/sandbox/personas.ts'
import { startFaultyProxy, type Fault } from '../support/faulty-realtime-proxy.ts'
import { startLiveCallRig, type LiveCallRig } from '../support/live-call-rig.ts'
import { until } from '../support/until.ts'

/**
 * Whole calls to the sandbox, over SIP and RTP, with a fault between our engine and its server. With every fault
 * the call ends in the right state, and the callee's words are in the transcript once, in order.
 */
const saidBySam = [
  'Hello, this is Sam speaking.',
  'Yes, I have a minute. What is it about?',
  'That sounds good. Tuesday morning works for me.',
  'Thank you for calling. Goodbye.',
]
const garden = 'Let me tell you about my garden.'

/** On a busy machine packets are late, and the scripted model does not understand damaged lines. */
class GarbledCallError extends Error {
  override name = 'GarbledCallError'
}

const tries = 3

/** Repeats a call whose audio was damaged on its way: the speech must arrive intact once. */
const againIfGarbled = async (hold: () => Promise<void>): Promise<void> => {
  for (let turn = 1; turn < tries; turn += 1)
    try {
      return await hold()
    } catch (error) {
      if (!(error instanceof GarbledCallError)) throw error
    }
  await hold()
}

describe('a live call with a faulty engine', { concurrency: true, timeout: 240_000 }, () => {
  let rig: LiveCallRig
  before(async () => {
    rig = await startLiveCallRig()
  })
  after(() => rig.stop())

  const dial = async (phoneNumber: string, plan: Partial<CallPlan>): Promise<DialableCall> => {
    const call = await rig.dial(phoneNumber)
    await rig.run(call, undefined, { plan })
    return call
  }

  const withFault = async (
    fault: Fault,
    check: (
      call: DialableCall,
      connections: number,
      errorCodes: readonly string[],
    ) => Promise<void>,
    phoneNumber = '+12025550100',
    plan: Partial<CallPlan> = {},
  ): Promise<void> => {
    const proxy = await startFaultyProxy(rig.engine.url, fault)
    try {
      const engine = { kind: 'realtime', url: proxy.url } as const
      const call = await dial(phoneNumber, { ...plan, engine })
      await check(call, proxy.connections(), proxy.errorCodes())
    } finally {
      proxy.stop()
    }
  }

  const assertHeld = async (call: DialableCall): Promise<void> => {
    const row = await rig.row(call)
    assert.deepEqual([row.status, row.answer_status], ['completed', 'answered'])
    const turns = await rig.turns(call)
    // Sam says hello first when a busy machine brings the agent's first words late.
    const heard = turns
      .filter(({ speaker, text }) => speaker === 'contact' && text !== personaHello)
      .map(({ text }) => text)
    if (heard.some((text) => text.includes(unrecognisedText)))
      throw new GarbledCallError(heard.join('\n'))
    assert.deepEqual(heard, saidBySam, JSON.stringify(turns.map(({ text }) => text)))
    assert.ok(turns.filter(({ speaker }) => speaker === 'agent').length >= 4)
    assert.deepEqual(
      turns.map(({ sequence }) => sequence),
      turns.map((_turn, index) => index + 1),
    )
  }

  const faults: readonly [Fault, number][] = [
    ['none', 1],
    ['active_response_race', 1],
    ['delta_burst', 1],
    ['reordered', 1],
    ['session_expired', 2],
    ['gone_mid_sentence', 2],
    ['half_open', 2],
  ]
  for (const [fault, expectedConnections] of faults) {
    it(`holds the conversation to its end: ${fault}`, () =>
      againIfGarbled(() =>
        withFault(fault, async (call, connections, errorCodes) => {
          await assertHeld(call)
          assert.equal(connections, expectedConnections)
          const refusals = fault === 'active_response_race' ? 1 : 0
          // A cancel may cross the end of its response; the protocol cannot avoid that, and it does no harm.
          const faultsOfOurs = errorCodes.filter((code) => code !== 'response_cancel_not_active')
          assert.equal(faultsOfOurs.length, refusals, errorCodes.join(' '))
        }),
      ))
  }

  for (const fault of ['none', 'truncate_refused'] as const) {
    it(`yields to a callee who keeps speaking, and truncates what was not heard: ${fault}`, () =>
      againIfGarbled(() =>
        withFault(
          fault,
          async (call, _connections, errorCodes) => {
            const row = await rig.row(call)
            assert.equal(row.status, 'completed')
            const said = (await rig.turns(call)).map(({ text }) => text)
            if (!said.includes(garden)) {
              if (said.some((text) => text.includes(unrecognisedText)))
                throw new GarbledCallError(said.join('\n'))
              assert.fail(said.join('\n'))
            }
            assert.deepEqual(
              errorCodes.filter((code) => code === 'invalid_value'),
              [],
            )
          },
          '+12025550108',
          { maxDurationMs: 30_000 },
        ),
      ))
  }

  it('fails, with the words so far, when the engine disappears permanently', async () => {
    const proxy = await startFaultyProxy(rig.engine.url, 'none')
    const call = await rig.dial('+12025550100')
    const running = rig.run(call, undefined, {
      plan: { engine: { kind: 'realtime', url: proxy.url, reconnectLimitMs: 500 } },
    })
    await until('the first words to be stored', async () =>
      (await rig.turns(call)).length > 0 ? true : undefined,
    )
    proxy.stop()
    await running
    const row = await rig.row(call)
    assert.deepEqual([row.status, row.answer_status], ['failed', 'answered'])
    assert.ok((await rig.turns(call)).length >= 1)
  })

  it('holds the same conversation through three servers in a row, and reports its usage', async () => {
    const url = rig.engine.httpUrl
    const engine = {
      kind: 'cascade',
      stt: [{ name: 'env', id: 'stt', kind: 'openai-stt', url }],
      llm: [{ name: 'env', id: 'llm', kind: 'openai-chat', url, model: 'scripted' }],
      tts: [{ name: 'env', id: 'tts', kind: 'openai-tts', url }],
    } as const
    let call: DialableCall | undefined
    await againIfGarbled(async () => {
      call = await dial('+12025550100', { engine })
      await assertHeld(call)
    })
    assert.ok(call)
    const [usage] = await listUsage(rig.db, call)
    assert.equal(usage?.model, 'scripted')
    assert.ok((usage?.input_tokens ?? 0) > 0 && (usage?.audio_out_ms ?? 0) > 5_000)
    const latencies = await listTurnLatencies(rig.db, call)
    assert.ok(latencies.length >= 3, JSON.stringify(latencies))
    for (const each of latencies) {
      assert.ok(each.transcription_ms !== null && each.speech_ms !== null)
      const { endpointing_ms: a, transcription_ms: b, model_ms: c, speech_ms: d, own_ms: e } = each
      const sum = a + b + c + d + e
      assert.ok(Math.abs(sum - each.total_ms) <= 5, JSON.stringify(each))
    }
  })
})
