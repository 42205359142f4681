// Runs beside others: it waits for most of its 32 s.
import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { spoolFrameBytes, spoolHeaderBytes } from '../../src/live-call/recording/spool-format.ts'
import { terminalStates } from '../support/api-client.ts'
import { probeAudio } from '../support/ffmpeg.ts'
import {
  askOutdial,
  createInstallation,
  everyCommand,
  startOutdial,
} from '../support/outdial-process.ts'
import { openSandboxTenant } from '../support/sandbox-tenant.ts'
import { missingPeer } from '../support/peers.ts'
import { until } from '../support/until.ts'

/** A callee who talks until the other side hangs up. */
const number = '+12025550108'

test('kill -9 during a conversation keeps its words and its audio', async (t) => {
  const installation = await createInstallation()
  const { env } = installation
  let outdial = await startOutdial(env)
  try {
    const { agent, api } = await openSandboxTenant(outdial)
    const placed = await api.post('/calls', {
      agent_id: agent,
      recipient: { external_id: 'talker', name: 'Talker', phone_number: number },
    })
    const callId = String(placed.body['id'])
    const spools = () =>
      readdirSync(join(installation.data, 'spool')).filter((name) => name.endsWith('.spool'))
    await until('the call to be answered', async () =>
      (await api.get(`/calls/${callId}`)).body['status'] === 'in_progress' ? true : undefined,
    )
    // Turns are stored during the call; the operator can read them before its end.
    const turnsSoFar = async () =>
      (await askOutdial<{ turns: { audio_offset_ms: number }[] }>(env, 'call', 'show', callId))
        .turns
    const spoken = await until(
      'two turns',
      async () => {
        const turns = await turnsSoFar()
        return turns.length >= 2 ? turns : undefined
      },
      { ...everyCommand, timeoutMs: 90_000 },
    )
    assert.deepEqual(spools(), [`${callId}.spool`])
    const { size } = statSync(join(installation.data, 'spool', `${callId}.spool`))
    await outdial.kill()
    const framesKept = Math.floor((size - spoolHeaderBytes) / spoolFrameBytes)
    const spokenForSeconds = (spoken.at(-1)?.audio_offset_ms ?? 0) / 1000
    // The recorder writes each second; everything before the kill, except that second, is there.
    assert.ok(framesKept >= (spokenForSeconds - 1.5) * 50, `${framesKept} frames`)

    outdial = await startOutdial(env)
    const ended = await until(
      'the call to end',
      async () => {
        const { body } = await api.get(`/calls/${callId}`)
        return terminalStates.includes(String(body['status']))
          ? (body as Record<string, unknown>)
          : undefined
      },
      { timeoutMs: 90_000, everyMs: 200 },
    )
    assert.deepEqual([ended['status'], ended['answer_status']], ['failed', 'unknown'])
    assert.ok(String(ended['outcome_reason']).length > 20, JSON.stringify(ended))

    const transcript = await until('the transcript', async () => {
      const { body } = await api.get(`/calls/${callId}/transcript`)
      return body['status'] === 'processing' ? undefined : (body as Record<string, unknown>)
    })
    assert.equal(transcript['status'], 'ready', JSON.stringify(transcript))
    const turns = transcript['turns'] as { audio_offset_ms: number }[]
    assert.ok(turns.length >= spoken.length, `${turns.length} of ${spoken.length} turns`)

    const recording = await until(
      'the recording',
      async () => {
        const { body } = await api.get('/recordings?include=download_url')
        return (body['data'] as unknown as Record<string, unknown>[])[0]
      },
      { timeoutMs: 60_000, everyMs: 200 },
    )
    assert.equal(recording['call_id'], callId)
    const download = await fetch(String(recording['download_url']))
    assert.equal(download.status, 200)
    const file = join(installation.data, 'recovered.mp3')
    await writeFile(file, Buffer.from(await download.arrayBuffer()))
    assert.deepEqual(spools(), [], 'the spool is gone once the recording is ready')
    const shown = await askOutdial<{ recording: Record<string, unknown> }>(
      env,
      'call',
      'show',
      callId,
    )
    assert.equal('frames_expected' in shown.recording, false, 'nobody knows what was to come')
    assert.ok(Number(shown.recording['frames_written']) >= framesKept)

    const missing = missingPeer('ffprobe')
    if (missing) return t.skip(missing)
    const audio = await probeAudio(file)
    assert.deepEqual([audio.codec, audio.channels, audio.sampleRateHz], ['mp3', 2, 8000])
    assert.ok(audio.seconds >= framesKept / 50, `${audio.seconds} s of ${framesKept} frames`)
    const last = turns.at(-1)?.audio_offset_ms ?? 0
    assert.ok(last / 1000 < audio.seconds + 1, `a turn at ${last} ms of ${audio.seconds} s`)
  } finally {
    await outdial.stop()
    installation.remove()
  }
})
