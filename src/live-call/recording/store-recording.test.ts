import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json, text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { createFolderStorage } from '../../storage/folder-storage.ts'
import { createRecordingStore } from './store-recording.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

describe('storing a recording', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'outdial-store-'))
  })
  after(() => rm(folder, { recursive: true }))

  it('puts the MP3 and the waveform of both lanes, and removes both', async () => {
    const storage = createFolderStorage(join(folder, 'objects'))
    const mp3 = join(folder, 'a.mp3')
    await writeFile(mp3, 'sound')
    const store = createRecordingStore(storage)
    const call = { organizationId: 'org' as OrganizationId, callId: 'call' }
    const peaks = { agent: [0, 0.5], contact: [1, 0.001] }
    const audio = { durationMs: 200, sizeBytes: 5, peaks }
    const keys = await store.store(call, mp3, audio)
    const open = async (key: string) => {
      const object = (await storage.open(key)) ?? assert.fail(`there is no ${key}`)
      return object.stream({ start: 0, end: object.size - 1 })
    }
    assert.equal(await text(await open(keys.storageKey)), 'sound')
    assert.deepEqual(await json(await open(keys.peaksKey)), {
      version: 1,
      window_ms: 100,
      duration_ms: 200,
      ...peaks,
    })
    assert.deepEqual(await store.store(call, mp3, audio), keys, 'a repeated job writes over it')
    await store.discard(keys)
    await store.discard(keys)
    assert.deepEqual(await readdir(join(folder, 'objects/org')), [])
  })
})
