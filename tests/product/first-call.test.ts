// Runs beside others: it waits for most of its 50 s.
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it, test } from 'node:test'
import { terminalStates, type ApiClient } from '../support/api-client.ts'
import { probeAudio } from '../support/ffmpeg.ts'
import { missingPeer } from '../support/peers.ts'
import {
  askOutdial,
  createNewInstallation,
  startOutdial,
  type OutdialProcess,
} from '../support/outdial-process.ts'
import { openSandboxTenant } from '../support/sandbox-tenant.ts'
import { until } from '../support/until.ts'

/** The program as started by hand, against its own sandbox carrier. */

interface Turn {
  readonly speaker: string
  readonly text: string
  readonly audio_offset_ms: number
}

let installation: Awaited<ReturnType<typeof createNewInstallation>>
let outdial: OutdialProcess
let api: ApiClient
let org: string
let agent: string

before(async () => {
  installation = await createNewInstallation()
  outdial = await startOutdial(installation.env)
  ;({ org, agent, api } = await openSandboxTenant(outdial))
})

after(async () => {
  assert.equal(await outdial.stop(), 0)
  installation.remove()
})

const call = async (number: string) => {
  const placed = await api.post('/calls', {
    agent_id: agent,
    recipient: { external_id: number, name: 'Ada Lovelace', phone_number: number },
  })
  assert.equal(placed.status, 202)
  assert.equal(placed.body['status'], 'queued')
  return until(
    `the call to ${number} to end`,
    async () => {
      const { body } = await api.get(`/calls/${String(placed.body['id'])}`)
      return terminalStates.includes(String(body['status']))
        ? (body as Record<string, unknown>)
        : undefined
    },
    { timeoutMs: 120_000 },
  )
}

const result = (id: unknown, kind: 'summary' | 'transcript') =>
  until(`the ${kind}`, async () => {
    const { body } = await api.get(`/calls/${String(id)}/${kind}`)
    return body['status'] === 'processing' ? undefined : (body as Record<string, unknown>)
  })

let durationSeconds = Number.NaN
test('a call over HTTP becomes a conversation, a transcript, a summary and an MP3', async () => {
  const ended = await call('+12025550100')
  assert.equal(ended['status'], 'completed')
  assert.equal(ended['answer_status'], 'answered')

  const transcript = await result(ended['id'], 'transcript')
  assert.equal(transcript['status'], 'ready')
  const turns = transcript['turns'] as Turn[]
  assert.ok(turns.length >= 4, JSON.stringify(turns))
  assert.deepEqual(new Set(turns.map((turn) => turn.speaker)), new Set(['agent', 'contact']))
  assert.ok(!turns.some((turn) => turn.text.includes('unrecognised')), JSON.stringify(turns))

  const summary = await result(ended['id'], 'summary')
  assert.equal(summary['status'], 'ready')
  assert.equal(typeof summary['summary'], 'string')

  const recording = await until('the recording', async () => {
    const { body } = await api.get(
      `/recordings?contact_id=${String(ended['contact_id'])}&include=download_url`,
    )
    return (body['data'] as unknown as Record<string, unknown>[])[0]
  })
  assert.equal(recording['call_id'], ended['id'])
  assert.equal(recording['duration_seconds'], ended['duration_seconds'])
  const download = await fetch(String(recording['download_url']))
  assert.equal(download.status, 200)
  assert.equal(download.headers.get('content-type'), 'audio/mpeg')
  const bytes = Buffer.from(await download.arrayBuffer())
  const part = await fetch(String(recording['download_url']), { headers: { range: 'bytes=0-99' } })
  assert.equal(part.status, 206)
  assert.deepEqual(Buffer.from(await part.arrayBuffer()), bytes.subarray(0, 100))

  await writeFile(join(installation.data, 'call.mp3'), bytes)
  durationSeconds = Number(ended['duration_seconds'])
})

const missing = missingPeer('ffprobe')
test('the MP3 is as long as the call', { skip: missing ?? false }, async () => {
  const audio = await probeAudio(join(installation.data, 'call.mp3'))
  assert.equal(audio.codec, 'mp3')
  assert.ok(
    Math.abs(audio.seconds - durationSeconds) <= 1,
    `${audio.seconds} s of audio, ${durationSeconds} s of call`,
  )
})

const outcomes = [
  ['+12025550101', 'completed', 'busy'],
  ['+12025550103', 'completed', 'voicemail'],
  ['+12025550104', 'failed', 'unknown'],
  ['+12025550107', 'completed', 'answered'],
  ['+12025550109', 'completed', 'busy'],
  ['+12025550111', 'completed', 'answered'],
] as const

describe('simultaneous calls', { concurrency: true }, () => {
  for (const [number, status, answer] of outcomes)
    it(`${number} ends ${status}/${answer}`, async () => {
      const ended = await call(number)
      assert.equal(ended['status'], status, JSON.stringify(ended))
      assert.equal(ended['answer_status'], answer, JSON.stringify(ended))
      if (number === '+12025550104')
        assert.match(String(ended['outcome_reason']), /^SIP 404 Not Found/)
    })
})

test('a manual call is followed on the command line and hidden from the API', async () => {
  const dialled = await askOutdial<{ id: string; status: string; answer_status: string }>(
    installation.env,
    ...`dial +12025550101 --org ${org} --agent ${agent} --follow`.split(' '),
  )
  assert.equal(dialled.status, 'completed')
  assert.equal(dialled.answer_status, 'busy')
  assert.equal((await api.get(`/calls/${dialled.id}`)).status, 404)
})
