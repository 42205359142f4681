import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '../../src/runtime/logger.ts'
import { anySource } from '../../src/sip/sources.ts'
import { createUserAgent } from '../../src/sip/user-agent.ts'
import { freeUdpPort } from '../support/free-port.ts'
import { liveSettings, openLiveTenant } from '../support/live-tenant.ts'
import {
  askOutdial,
  createInstallation,
  runOutdial,
  startOutdial,
} from '../support/outdial-process.ts'
import { until } from '../support/until.ts'

const recipients = 200
const callsPerSecond = 40

/** A trunk that answers every call with 486 and counts INVITEs by number; it goes away and comes back on one port. */
const createTrunk = (port: number) => {
  const invites = new Map<string, number>()
  const arrivalsMs: number[] = []
  let running: ReturnType<typeof createUserAgent> | undefined
  return {
    invites,
    arrivalsMs,
    start: async (): Promise<void> => {
      running = createUserAgent({
        logger: silentLogger,
        bindAddress: '127.0.0.1',
        port,
        maxUnknownPerSecond: 1000,
        sources: anySource,
      })
      running.onInvite((incoming) => {
        const number = /\+\d+/.exec(incoming.request.uri)?.[0] ?? ''
        invites.set(number, (invites.get(number) ?? 0) + 1)
        arrivalsMs.push(performance.now())
        incoming.reject(486, 'Busy Here')
      })
      await running.start()
    },
    stop: async (): Promise<void> => running?.stop(0),
  }
}

const busiestSecond = (timesMs: readonly number[]): number =>
  Math.max(
    0,
    ...timesMs.map((from) => timesMs.filter((at) => at >= from && at < from + 1000).length),
  )

test('a trunk that goes away under a running batch fails no call, rings none twice, and is not met by a volley', async () => {
  const port = await freeUdpPort()
  const trunk = createTrunk(port)
  await trunk.start()
  const installation = await createInstallation({
    ...liveSettings(`sip:127.0.0.1:${port}`),
    OUTDIAL_MAX_CPS: String(callsPerSecond),
  })
  const { env } = installation
  const outdial = await startOutdial(env)
  try {
    const { agent, api } = await openLiveTenant(outdial)
    const created = await api.post('/batches', {
      name: 'Outage',
      agent_id: agent,
      recipients: Array.from({ length: recipients }, (_, index) => ({
        external_id: `callee-${index}`,
        name: 'Callee',
        phone_number: `+1202555${String(3000 + index)}`,
      })),
    })
    assert.equal(created.status, 201, JSON.stringify(created.body))
    const batch = String(created.body['id'])
    await api.post(`/batches/${batch}/start`, {})
    await until('a part of the batch to be called', () => trunk.invites.size >= 40 || undefined)
    await trunk.stop()
    const explained = await until('the calls to wait for the trunk', async () => {
      const { body } = await api.get(`/calls?batch_id=${batch}&status=queued&limit=1`)
      const [call] = body['data'] as unknown as { id: string }[]
      if (!call) return undefined
      const told = await askOutdial<{ reasons: { code: string; message: string }[] }>(
        env,
        'call',
        'explain',
        call.id,
      )
      return told.reasons[0]?.code === 'trunk_down' ? told : undefined
    })
    assert.match(explained.reasons[0]?.message ?? '', /cannot be used/)
    assert.equal((await fetch(`${outdial.apiUrl}/readyz`)).status, 200)
    const findings = await runOutdial(env, 'doctor', '--json')
    assert.match(findings.stdout, /does not answer OPTIONS/)
    await trunk.start()
    await until(
      'the batch to end',
      async () => {
        const { body } = await api.get(`/batches/${batch}`)
        return body['status'] === 'completed' ? body : undefined
      },
      { timeoutMs: 120_000 },
    )
    const calls: { answer_status: string; status: string; outcome_reason: string }[] = []
    for (let cursor = ''; ;) {
      const { body } = await api.get(`/calls?batch_id=${batch}&limit=100${cursor}`)
      calls.push(...(body['data'] as unknown as typeof calls))
      if (typeof body['next_cursor'] !== 'string') break
      cursor = `&cursor=${encodeURIComponent(body['next_cursor'])}`
    }
    assert.equal(calls.length, recipients)
    const others = calls.filter(({ answer_status: status }) => status !== 'busy')
    assert.deepEqual(others, [], 'all were reached')
    assert.deepEqual(
      [...trunk.invites].filter(([, count]) => count > 1),
      [],
      'nobody was rung twice',
    )
    const busiest = busiestSecond(trunk.arrivalsMs)
    assert.ok(busiest <= callsPerSecond, `${busiest} INVITEs in a second`)
    assert.equal(outdial.output().match(/the trunk cannot be used/g)?.length, 1, 'told once')
    assert.equal(outdial.output().match(/the trunk answers again/g)?.length, 1)
  } finally {
    await outdial.stop()
    await trunk.stop()
    installation.remove()
  }
})
