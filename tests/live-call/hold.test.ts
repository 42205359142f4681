// Runs beside others: it waits for most of its 12 s.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { explainCall } from '../../src/domains/calls/explain-call.ts'
import { listQuality } from '../../src/domains/results/quality-store.ts'
import { createPersonaVoice } from '../../src/telephony/sandbox/persona-voice.ts'
import { personaVocabulary } from '../../src/telephony/sandbox/personas.ts'
import { startLiveCallRig } from '../support/live-call-rig.ts'
import { startLineCallee } from '../support/telephony/line-callee.ts'
import { until } from '../support/until.ts'

/** Words that the scripted model understands whenever it hears them. */
const words = 'That sounds good. Tuesday morning works for me.'
const heldMs = 4_000
const silentMs = 500

/** The frames that had arrived when the agent fell silent: some are on their way as the hold begins. */
const silenceOf = (line: { audibleFrames(): number }): Promise<number> => {
  let [frames, sinceMs] = [line.audibleFrames(), performance.now()]
  return until(
    'silence',
    () => {
      const now = line.audibleFrames()
      if (now !== frames) [frames, sinceMs] = [now, performance.now()]
      return performance.now() - sinceMs > silentMs ? frames : undefined
    },
    { timeoutMs: 60_000 },
  )
}

test('music on hold is no word of the callee, and the agent repeats what the hold cut', async (t) => {
  const callee = await startLineCallee()
  t.after(() => callee.stop())
  const rig = await startLiveCallRig({ target: callee.target })
  t.after(() => rig.stop())
  const speak = createPersonaVoice(personaVocabulary)
  const call = await rig.dial('+12025550100')
  const ended = rig.run(call)
  const line = await callee.answered

  await until('the greeting', () => (line.audibleFrames() > 10 ? true : undefined), {
    timeoutMs: 60_000,
  })
  await line.change('sendonly')
  const beforeHold = await silenceOf(line)
  line.play(speak(words))
  await delay(heldMs)
  assert.ok(line.audibleFrames() - beforeHold <= 2, 'the agent spoke on')
  assert.deepEqual(await rig.turns(call), [])

  line.play(undefined)
  await line.change('sendrecv')
  const spoken = await until(
    'the whole greeting',
    async () => (await rig.turns(call)).find(({ speaker }) => speaker === 'agent'),
    { timeoutMs: 60_000 },
  )
  assert.equal(spoken.text, 'Hello, this is Riverside Dental. Do you have a minute?')
  await line.dialog.bye()
  await ended

  const turns = await rig.turns(call)
  assert.deepEqual(
    turns.filter(({ speaker }) => speaker === 'contact'),
    [],
  )
  assert.equal((await rig.row(call)).status, 'completed')
  const quality = await listQuality(rig.db, call)
  assert.deepEqual(
    quality.map(({ direction }) => direction),
    ['from_callee', 'to_callee'],
  )
  assert.ok((quality[0]?.packets ?? 0) > 0 && (quality[0]?.mos ?? 0) >= 1, JSON.stringify(quality))
  const explanation = await explainCall(rig.db, call.organizationId, call.callId)
  const decisions = explanation?.decisions.map(({ decision }) => decision) ?? []
  assert.deepEqual(decisions.slice(-3), ['held', 'resumed', 'completed'])
})
