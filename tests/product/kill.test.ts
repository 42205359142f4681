// Runs beside others: it waits for most of its 47 s.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { terminalStates } from '../support/api-client.ts'
import { askOutdial, createInstallation, startOutdial } from '../support/outdial-process.ts'
import { liveSettings, openLiveTenant } from '../support/live-tenant.ts'
import { startSandboxCarrier } from '../support/sandbox-carrier-process.ts'
import { until } from '../support/until.ts'

const capacity = 5

test('kill -9 during ten calls loses none and rings no phone twice', async () => {
  const installation = await createInstallation()
  const carrier = await startSandboxCarrier(join(installation.data, 'journal'))
  const env = { ...installation.env, ...liveSettings(carrier.trunk) }
  let outdial = await startOutdial(env)
  try {
    const { org, agent, api } = await openLiveTenant(outdial)
    await askOutdial(env, ...`org set ${org} --concurrency ${capacity}`.split(' '))
    const ids: string[] = []
    for (let index = 0; index < 10; index += 1) {
      // Voicemail ends by itself after some seconds, so that later calls get their turn.
      const placed = await api.post('/calls', {
        agent_id: agent,
        recipient: {
          external_id: `callee-${index}`,
          name: 'Callee',
          phone_number: `+1202555${String(2000 + index)}`,
        },
      })
      assert.equal(placed.status, 202, JSON.stringify(placed.body))
      ids.push(String(placed.body['id']))
    }
    await until('the carrier to have answered as many calls as there is capacity', () =>
      carrier.journal().filter(({ event }) => event === 'answered').length >= capacity
        ? true
        : undefined,
    )
    await outdial.kill()
    const live = new Set(carrier.journal().map(({ call_id }) => call_id))
    assert.equal(live.size, capacity, 'the others waited in the queue')

    outdial = await startOutdial(env)
    const ended = await until(
      'every call to be terminal',
      async () => {
        const calls = await Promise.all(ids.map((id) => api.get(`/calls/${id}`)))
        return calls.every(({ body }) => terminalStates.includes(String(body['status'])))
          ? calls.map(({ body }) => body as Record<string, unknown>)
          : undefined
      },
      { timeoutMs: 180_000, everyMs: 500 },
    )
    for (const call of ended) {
      const wasLive = live.has(String(call['id']))
      assert.equal(call['status'], wasLive ? 'failed' : 'completed', JSON.stringify(call))
      if (wasLive) assert.ok(String(call['outcome_reason']).length > 20, JSON.stringify(call))
    }
    for (const id of ids) {
      const rung = carrier
        .journal()
        .filter(({ event, call_id }) => event === 'ringing' && call_id === id)
      assert.equal(rung.length, 1, `call ${id} rang ${rung.length} times`)
    }
  } finally {
    await outdial.stop()
    await carrier.stop()
    installation.remove()
  }
})
