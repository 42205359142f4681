import assert from 'node:assert/strict'
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { probeAudio } from '../../../tests/support/ffmpeg.ts'
import { missingPeer } from '../../../tests/support/peers.ts'
import { createThreadEncoder } from './encode-in-thread.ts'
import { UnreadableSpoolError } from './encode-recording.ts'
import { createRecorderSpool } from './recorder-spool.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

const signal = new AbortController().signal
const encodeInThread = createThreadEncoder()
const header = {
  version: 1,
  codec: 'pcmu',
  organizationId: 'organization' as OrganizationId,
  callId: 'call',
  startedAt: '2026-11-20T10:00:00.000Z',
} as const

describe('encoding a spool', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'outdial-encode-'))
  })
  after(() => rm(folder, { recursive: true }))

  /** Three seconds: the agent loud throughout, the contact only in the second one. */
  const record = async (name: string): Promise<string> => {
    const path = join(folder, name)
    const spool = createRecorderSpool(path, header)
    const loud = new Uint8Array(160).map((_, sample) => (sample % 8 < 4 ? 0x10 : 0x90))
    const silent = new Uint8Array(160).fill(0xff)
    for (let frame = 0; frame < 150; frame += 1) {
      spool.write(loud, frame >= 50 && frame < 100 ? loud : silent)
    }
    await spool.close()
    return path
  }

  /** As after a crash: the last frame is truncated. */
  const recordTorn = async (name: string): Promise<string> => {
    const path = await record(name)
    await appendFile(path, Buffer.alloc(77))
    return path
  }

  it('gives an MP3 as long as the call, even after a truncated last frame, and both waveforms', async () => {
    const path = await recordTorn('whole.spool')
    const audio = await encodeInThread(path, `${path}.mp3`, signal)
    assert.equal(audio.durationMs, 3000)
    assert.equal(audio.sizeBytes, (await stat(`${path}.mp3`)).size)
    assert.equal(audio.peaks.agent.length, 30)
    assert.ok(audio.peaks.agent.every((peak) => peak > 0.4))
    const voiced = audio.peaks.contact.map((peak) => peak > 0.4)
    assert.deepEqual(
      voiced,
      Array.from({ length: 30 }, (_, at) => at >= 10 && at < 20),
    )
  })

  it('gives an MP3 that ffprobe measures as long as the call, in two channels', async (test) => {
    const reason = missingPeer('ffprobe')
    if (reason) return test.skip(reason)
    const path = await recordTorn('measured.spool')
    await encodeInThread(path, `${path}.mp3`, signal)
    const { seconds, channels } = await probeAudio(`${path}.mp3`)
    assert.equal(channels, 2)
    // ffprobe counts whole MP3 frames of 72 ms, including the codec's delay.
    assert.ok(Math.abs(seconds - 3) < 0.25, `${seconds} s`)
  })

  it('refuses a spool without audio or without a header', async () => {
    const empty = join(folder, 'empty.spool')
    await createRecorderSpool(empty, header).close()
    const torn = join(folder, 'torn.spool')
    await writeFile(torn, 'OUT')
    for (const path of [empty, torn]) {
      await assert.rejects(encodeInThread(path, `${path}.mp3`, signal), UnreadableSpoolError)
    }
  })

  it('fails temporarily for a spool that cannot be opened', async () => {
    const path = join(folder, 'missing.spool')
    await assert.rejects(encodeInThread(path, `${path}.mp3`, signal), { code: 'ENOENT' })
  })

  it('continues in the same thread, and in another one after it broke or was interrupted', async () => {
    const path = await record('again.spool')
    const encode = createThreadEncoder()
    const encoded = async (): Promise<Buffer> => {
      await encode(path, `${path}.mp3`, signal)
      return readFile(`${path}.mp3`)
    }
    const first = await encoded()
    assert.deepEqual(await encoded(), first)
    await assert.rejects(encode(join(folder, 'none'), `${path}.mp3`, signal), { code: 'ENOENT' })
    assert.deepEqual(await encoded(), first)
    const interrupting = new AbortController()
    const interrupted = encode(path, `${path}.mp3`, interrupting.signal)
    interrupting.abort()
    await assert.rejects(interrupted, /interrupted/)
    assert.deepEqual(await encoded(), first)
  })

  it('ends at once when it is interrupted', async () => {
    const path = await record('interrupted.spool')
    await assert.rejects(encodeInThread(path, `${path}.mp3`, AbortSignal.abort()), /interrupted/)
  })
})
