// Runs beside others: it waits for most of its 35 s.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ScriptedRealtimeServer } from '../../src/conversation/engines/scripted/scripted-realtime-server.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { createSandboxServer } from '../../src/telephony/sandbox/sandbox-server.ts'
import type { Persona } from '../../src/telephony/sandbox/personas.ts'
import { terminalStates } from '../support/api-client.ts'
import { askOutdial, createInstallation, startOutdial } from '../support/outdial-process.ts'
import { liveSettings, openLiveTenant } from '../support/live-tenant.ts'
import { until } from '../support/until.ts'

const number = '+12025550144'
const prompt =
  'Hi. The person you are calling is using a screening service. Please say your name and why you are calling.'
const lines = [
  prompt,
  'Hello, this is Sam speaking.',
  'That sounds good. Tuesday morning works for me.',
]
/** A telephone whose assistant asks who is calling, and then passes the call to its owner. */
const screened: Persona = {
  number,
  shows: 'screens the call, then answers',
  answer: { kind: 'answer', ringMs: 300, behaviour: { kind: 'converse', lines } },
}
const message = 'This is Riverside Dental. Please call us back.'

test(
  'a screening assistant hears who is calling and why, and then its owner talks with the agent',
  { timeout: 120_000 },
  async () => {
    const carrier = createSandboxServer({
      port: 0,
      onlyPersona: screened,
      logger: silentLogger,
    })
    const model = new ScriptedRealtimeServer({ vocabulary: lines, logger: silentLogger })
    await Promise.all([carrier.start(), model.start()])
    const installation = await createInstallation({
      ...liveSettings(`sip:127.0.0.1:${carrier.port}`),
      OUTDIAL_ENGINE: 'realtime',
      OUTDIAL_REALTIME_URL: model.url,
    })
    const outdial = await startOutdial(installation.env)
    try {
      const { org, api } = await openLiveTenant(outdial)
      const file = join(installation.data, 'agent.json')
      writeFileSync(
        file,
        JSON.stringify({
          name: 'Riverside Dental',
          greeting: 'Hello, this is Riverside Dental.',
          prompt: 'Purpose: to move your appointment.',
          voicemail: 'leave_message',
          voicemail_message: message,
        }),
      )
      const args = ['agent', 'create', '--org', org, '--file', file]
      const agent = await askOutdial<{ id: string }>(installation.env, ...args)
      const placed = await api.post('/calls', {
        agent_id: agent.id,
        recipient: { external_id: number, name: 'Ada Lovelace', phone_number: number },
      })
      const path = `/calls/${String(placed.body['id'])}`
      const call = await until(
        'the call to end',
        async () => {
          const { body } = await api.get(path)
          return terminalStates.includes(String(body['status'])) ? body : undefined
        },
        { timeoutMs: 90_000, everyMs: 200 },
      )
      assert.deepEqual([call['status'], call['answer_status']], ['completed', 'answered'])
      const transcript = await until('the transcript', async () => {
        const { body } = await api.get(`${path}/transcript`)
        return body['status'] === 'processing' ? undefined : body
      })
      const turns = transcript['turns'] as unknown as { speaker: string; text: string }[]
      const said = turns.map(({ speaker, text }) => `${speaker}: ${text}`)
      const asked = said.indexOf(`contact: ${prompt}`)
      assert.ok(asked >= 0, said.join('\n'))
      assert.equal(
        said[asked + 1],
        'agent: This is Riverside Dental. I am calling to move your appointment.',
      )
      assert.ok(said.indexOf('contact: Hello, this is Sam speaking.') > asked, said.join('\n'))
      assert.ok(!said.some((turn) => turn.includes('call us back')), said.join('\n'))
    } finally {
      await outdial.stop()
      await carrier.stop()
      await model.stop()
      installation.remove()
    }
  },
)
