// Runs beside others: it waits for most of its 21 s.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { createApiClient, terminalStates } from '../support/api-client.ts'
import {
  askOutdial,
  createInstallation,
  createNewInstallation,
  runOutdial,
  startOutdial,
} from '../support/outdial-process.ts'
import { openSandboxTenant } from '../support/sandbox-tenant.ts'
import { until } from '../support/until.ts'

const number = '+12025550103'

test('a backup of the running service becomes another installation, recordings included', async () => {
  const [first, second] = [await createInstallation(), await createNewInstallation()]
  const file = join(first.data, 'outdial.backup')
  const outdial = await startOutdial(first.env)
  try {
    const { org, agent, api, secret } = await openSandboxTenant(outdial)
    const recipient = { external_id: 'ada', name: 'Ada Lovelace', phone_number: number }
    const placed = await api.post('/calls', { agent_id: agent, recipient })
    const callId = String(placed.body['id'])
    await until('the call to end', async () =>
      terminalStates.includes(String((await api.get(`/calls/${callId}`)).body['status']))
        ? true
        : undefined,
    )
    const listed = await until('the recording', async () => {
      const { body } = await api.get('/recordings?include=download_url')
      return (body['data'] as unknown as Record<string, string>[])[0]
    })
    const transcript = await until('the transcript', async () => {
      const { body } = await api.get(`/calls/${callId}/transcript`)
      return body['status'] === 'processing' ? undefined : body
    })
    const sound = await bytesOf(listed['download_url'] ?? '')

    const report = await askOutdial<Record<string, unknown>>(first.env, 'backup', file)
    assert.equal(report['file'], file)
    assert.equal(report['objects'], 2)
    const again = await runOutdial(first.env, 'backup', file)
    assert.equal(again.status, 1)
    assert.match(again.stderr, /exists already/)
    const refused = await runOutdial(first.env, 'restore', file)
    assert.equal(refused.status, 1)
    assert.match(refused.stderr, /in use/)

    await askOutdial(second.env, 'restore', file)
    assert.deepEqual(await askOutdial(second.env, 'migrate'), { applied: [] })
    const restored = await startOutdial(second.env)
    try {
      const client = createApiClient(restored.apiUrl, secret)
      assert.deepEqual((await client.get(`/calls/${callId}/transcript`)).body, transcript)
      assert.equal((await client.get(`/calls/${callId}`)).body['status'], 'completed')
      const { body } = await client.get('/recordings?include=download_url')
      const [recording] = body['data'] as unknown as Record<string, string>[]
      assert.equal(recording?.['id'], listed['id'])
      assert.deepEqual(await bytesOf(recording?.['download_url'] ?? ''), sound)
      const shown = await askOutdial<Record<string, unknown>>(second.env, 'call', 'show', callId)
      assert.equal(
        (shown['turns'] as unknown[]).length,
        (transcript['turns'] as unknown as unknown[]).length,
      )
      const explained = await askOutdial<{ status: string; decisions: unknown[] }>(
        second.env,
        'call',
        'explain',
        callId,
      )
      assert.equal(explained.status, 'completed')
      assert.ok(explained.decisions.length > 0)
      const unknown = await runOutdial(second.env, 'call', 'explain', org)
      assert.equal(unknown.status, 1)
    } finally {
      await restored.stop()
    }
  } finally {
    await outdial.stop()
    first.remove()
    second.remove()
  }
})

const bytesOf = async (url: string): Promise<Buffer> => {
  const response = await fetch(url)
  assert.equal(response.status, 200)
  return Buffer.from(await response.arrayBuffer())
}
