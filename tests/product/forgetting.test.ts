// Runs beside others: it waits for most of its 30 s.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { terminalStates } from '../support/api-client.ts'
import {
  askOutdial,
  createInstallation,
  runOutdial,
  startOutdial,
} from '../support/outdial-process.ts'
import { openSandboxTenant } from '../support/sandbox-tenant.ts'
import { missingS3Server, startS3Server } from '../support/s3-server.ts'
import { until } from '../support/until.ts'

const number = '+12025550103'

/** A call, its recording in this storage, and then the erasure of the person. */
const recordAndErase = async (settings: Record<string, string>): Promise<void> => {
  const installation = await createInstallation(settings)
  const { env } = installation
  const outdial = await startOutdial(env)
  try {
    const { org, agent, api } = await openSandboxTenant(outdial)
    const recipient = { external_id: 'ada', name: 'Ada Lovelace', phone_number: number }
    const placed = await api.post('/calls', { agent_id: agent, recipient })
    const callId = String(placed.body['id'])
    const contactId = String(placed.body['contact_id'])
    await until('the call to end', async () =>
      terminalStates.includes(String((await api.get(`/calls/${callId}`)).body['status']))
        ? true
        : undefined,
    )
    const recording = await until('the recording', async () => {
      const { body } = await api.get('/recordings?include=download_url&expires_in=3600')
      return (body['data'] as unknown as Record<string, string>[])[0]
    })
    const url = recording['download_url'] ?? assert.fail('it was asked for')
    const whole = await fetch(url)
    assert.equal(whole.status, 200)
    const bytes = Buffer.from(await whole.arrayBuffer())
    assert.equal(bytes.length, Number(whole.headers.get('content-length')))
    for (const [range, start, end] of [
      ['bytes=0-0', 0, 0],
      ['bytes=100-299', 100, 299],
      ['bytes=-50', bytes.length - 50, bytes.length - 1],
    ] as const) {
      const part = await fetch(url, { headers: { range } })
      assert.equal(part.status, 206)
      assert.deepEqual(Buffer.from(await part.arrayBuffer()), bytes.subarray(start, end + 1))
    }

    const erased = await askOutdial<Record<string, unknown>>(
      env,
      ...`contact erase ${number} --org ${org}`.split(' '),
    )
    assert.deepEqual(erased, {
      contact_id: contactId,
      calls: 1,
      recordings: 1,
      purged_recordings: 1,
    })
    assert.equal((await fetch(url)).status, 404, 'a live URL opens nothing')
    assert.equal((await api.get(`/contacts/${contactId}`)).status, 404)
    assert.deepEqual((await api.get('/recordings')).body['data'], [])
    assert.equal((await api.get(`/recordings/${recording['id']}`)).status, 404)
    for (const kind of ['summary', 'transcript']) {
      const { body } = await api.get(`/calls/${callId}/${kind}`)
      assert.deepEqual([body['status'], body['reason']], ['unavailable', 'retention_expired'])
    }
    const { body: call } = await api.get(`/calls/${callId}`)
    assert.equal(call['status'], 'completed')
    assert.equal('summary' in call, false)
    const again = await runOutdial(env, ...`contact erase ${number} --org ${org}`.split(' '))
    assert.deepEqual([again.status, again.stdout], [1, ''])
    assert.match(again.stderr, /no contact/)
  } finally {
    await outdial.stop()
    installation.remove()
  }
}

test('an erased person is gone from API and data folder, including live URLs', () =>
  recordAndErase({}))

const missing = missingS3Server()
test('the same with recordings in S3', { skip: missing ?? false }, async () => {
  const server = await startS3Server('calls')
  try {
    await recordAndErase({
      OUTDIAL_S3_ENDPOINT: server.endpoint,
      OUTDIAL_S3_BUCKET: server.bucket,
      OUTDIAL_S3_PREFIX: 'outdial',
      OUTDIAL_S3_ACCESS_KEY_ID: server.credentials.accessKeyId,
      OUTDIAL_S3_SECRET_ACCESS_KEY: server.credentials.secretAccessKey,
    })
  } finally {
    await server.stop()
  }
})
