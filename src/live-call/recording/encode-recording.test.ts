import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { silentLogger } from '../../runtime/logger.ts'
import {
  createEncodeRecording,
  UnreadableSpoolError,
  type EncodeRecordingDependencies,
} from './encode-recording.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

const job = { organization_id: 'organization' as OrganizationId, call_id: 'call' }
const signal = new AbortController().signal

describe('the job that encodes a recording', () => {
  let folder = ''
  let log: string[] = []
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'outdial-encode-'))
    log = []
  })
  afterEach(() => rm(folder, { recursive: true }))

  const encoder = (changes: Partial<EncodeRecordingDependencies> = {}) =>
    createEncodeRecording({
      spoolFolder: folder,
      encode: async (_spoolPath, mp3Path) => {
        await writeFile(mp3Path, 'mp3')
        return { durationMs: 12_400, sizeBytes: 3, peaks: { agent: [], contact: [] } }
      },
      store: async (_call, mp3Path) => {
        log.push(`stored ${await readFile(mp3Path, 'utf8')}`)
        return { storageKey: 'key', peaksKey: 'peaks' }
      },
      markReady: async (_call, recording) => {
        log.push(JSON.stringify(recording))
        return true
      },
      discard: async ({ storageKey, peaksKey }) =>
        void log.push(`discarded ${storageKey} ${peaksKey}`),
      markFailed: async () => void log.push('failed'),
      logger: silentLogger,
      ...changes,
    })

  it('stores the MP3, marks it as ready, and leaves no file', async () => {
    await writeFile(join(folder, 'call.spool'), 'audio')
    await encoder()(job, signal)
    assert.deepEqual(log, [
      'stored mp3',
      '{"storageKey":"key","peaksKey":"peaks","durationSeconds":12,"sizeBytes":3,"frames":620}',
    ])
    assert.deepEqual(await readdir(folder), [])
  })

  it('leaves nothing of a recording that was deleted during encoding', async () => {
    await writeFile(join(folder, 'call.spool'), 'audio')
    await encoder({ markReady: async () => false })(job, signal)
    assert.deepEqual(log, ['stored mp3', 'discarded key peaks'])
    assert.deepEqual(await readdir(folder), [])
  })

  it('keeps the spool and retries when the storage is unavailable', async () => {
    await writeFile(join(folder, 'call.spool'), 'audio')
    const store = () => Promise.reject(new Error('away'))
    await assert.rejects(encoder({ store })(job, signal), { message: 'away' })
    assert.deepEqual([log, await readdir(folder)], [[], ['call.spool']])
    await encoder()(job, signal)
    assert.equal(log.length, 2)
  })

  it('keeps the spool when the recording could not be marked', async () => {
    await writeFile(join(folder, 'call.spool'), 'audio')
    const markReady = () => Promise.reject(new Error('away'))
    await assert.rejects(encoder({ markReady })(job, signal), { message: 'away' })
    assert.deepEqual(await readdir(folder), ['call.spool'])
  })

  it('gives up a spool without a recording', async () => {
    await writeFile(join(folder, 'call.spool'), '')
    await encoder({ encode: () => Promise.reject(new UnreadableSpoolError('It is empty.')) })(
      job,
      signal,
    )
    assert.deepEqual([log, await readdir(folder)], [['failed'], []])
  })

  it('does nothing when a killed run had already deleted the spool', async () => {
    await encoder()(job, signal)
    assert.deepEqual(log, ['failed'])
  })
})
