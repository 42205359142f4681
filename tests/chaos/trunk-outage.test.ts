// Runs beside others: it waits for most of its 27 s.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiClient } from '../support/api-client.ts'
import { liveSettings, openLiveTenant } from '../support/live-tenant.ts'
import {
  askOutdial,
  createInstallation,
  everyCommand,
  runOutdial,
  startOutdial,
} from '../support/outdial-process.ts'
import { until } from '../support/until.ts'
import { openVanishingTrunk } from '../support/vanishing-trunk.ts'

const recipients = 200
const callsPerSecond = 40
const numbers = Array.from({ length: recipients }, (_, index) => `+1202555${String(3000 + index)}`)

interface Contact {
  readonly id: string
  readonly phone_number: string
}

interface Recipient {
  readonly contact_id: string
  readonly status: string
  readonly answer_status: string
  readonly outcome_reason: string
}

const readPages = async <T>(api: ApiClient, path: string): Promise<T[]> => {
  const all: T[] = []
  for (let cursor = ''; ;) {
    const { body } = await api.get(`${path}${cursor}`)
    all.push(...(body['data'] as unknown as T[]))
    if (typeof body['next_cursor'] !== 'string') return all
    cursor = `&cursor=${encodeURIComponent(body['next_cursor'])}`
  }
}

const busiestSecond = (timesMs: readonly number[]): number =>
  Math.max(
    0,
    ...timesMs.map((from) => timesMs.filter((at) => at >= from && at < from + 1000).length),
  )

test('a trunk that disappears during a batch loses no undelivered call, rings none twice, and gets no burst on return', async () => {
  const trunk = await openVanishingTrunk()
  const installation = await createInstallation({
    ...liveSettings(`sip:127.0.0.1:${trunk.port}`),
    OUTDIAL_MAX_CPS: String(callsPerSecond),
  })
  const { env } = installation
  const outdial = await startOutdial(env)
  try {
    const { agent, api } = await openLiveTenant(outdial)
    const created = await api.post('/batches', {
      name: 'Outage',
      agent_id: agent,
      recipients: numbers.map((number, index) => ({
        external_id: `callee-${index}`,
        name: 'Callee',
        phone_number: number,
      })),
    })
    assert.equal(created.status, 201, JSON.stringify(created.body))
    const batch = String(created.body['id'])
    await api.post(`/batches/${batch}/start`, {})
    await until('a part of the batch to be called', () => trunk.numbers.size >= 40 || undefined)
    await trunk.leave()
    const explained = await until(
      'the calls to wait for the trunk',
      async () => {
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
      },
      everyCommand,
    )
    assert.match(explained.reasons[0]?.message ?? '', /cannot be used/)
    assert.equal((await fetch(`${outdial.apiUrl}/readyz`)).status, 200)
    const findings = await runOutdial(env, 'doctor', '--json')
    assert.match(findings.stdout, /refuses packets \(connection refused\)/)
    trunk.comeBack()
    await until(
      'the batch to end',
      async () => {
        const { body } = await api.get(`/batches/${batch}`)
        return body['status'] === 'completed' ? body : undefined
      },
      { timeoutMs: 120_000 },
    )
    const calls = await readPages<Recipient>(api, `/calls?batch_id=${batch}&limit=100`)
    const contacts = await readPages<Contact>(api, '/contacts?limit=100')
    const numberOf = new Map(contacts.map(({ id, phone_number: number }) => [id, number]))
    assert.equal(calls.length, recipients)
    // A call that the trunk had received when it disappeared may have rung: it is never made again, and its answer
    // status is unknown.
    const others = calls.filter(({ answer_status: status }) => status !== 'busy')
    assert.deepEqual(
      others.filter(
        ({ contact_id: contact, status, answer_status: answer }) =>
          status !== 'failed' ||
          answer !== 'unknown' ||
          !trunk.unanswered.has(numberOf.get(contact) ?? ''),
      ),
      [],
      'all were reached that the trunk had not got',
    )
    assert.deepEqual(
      numbers.filter((number) => trunk.timesCalled(number) !== 1),
      [],
      'every number was called once',
    )
    const busiest = busiestSecond(trunk.arrivalsMs)
    assert.ok(busiest <= callsPerSecond, `${busiest} INVITEs in a second`)
    assert.equal(outdial.output().match(/the trunk cannot be used/g)?.length, 1, 'told once')
    assert.equal(outdial.output().match(/the trunk answers again/g)?.length, 1)
  } finally {
    await outdial.stop()
    await trunk.close()
    installation.remove()
  }
})
