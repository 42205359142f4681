import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { after, before, test } from 'node:test'
import type { ObjectStorage, StoredObject } from '../../../src/storage/object-storage.ts'

/** The conformance suite of every storage: run once against the folder, and once against a real S3 server. */
export const testStorage = (name: string, open: () => ObjectStorage): void => {
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'outdial-storage-'))
  })
  after(() => rmSync(folder, { recursive: true }))

  const file = (text: string | Uint8Array): string => {
    const path = join(folder, 'source')
    writeFileSync(path, text)
    return path
  }
  const found = async (storage: ObjectStorage, key: string): Promise<StoredObject> =>
    (await storage.open(key)) ?? assert.fail(`there is no ${key}`)
  const read = async (object: StoredObject, start = 0, end = object.size - 1): Promise<Buffer> =>
    buffer(await object.stream({ start, end }))

  test(`${name}: an object is read back whole and in part`, async () => {
    const storage = open()
    await storage.put('parts/a.mp3', { bytes: Buffer.from('0123456789') })
    const object = await found(storage, 'parts/a.mp3')
    assert.equal(object.size, 10)
    assert.equal((await read(object)).toString(), '0123456789')
    assert.equal((await read(object, 2, 4)).toString(), '234')
    assert.equal((await read(object, 9, 9)).toString(), '9')
    assert.equal((await read(object, 0, 0)).toString(), '0')
  })

  test(`${name}: a file of several megabytes comes back byte for byte`, async () => {
    const storage = open()
    const bytes = Buffer.alloc(5_000_001)
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = (at * 31 + (at >> 8)) & 0xff
    await storage.put('large/one.bin', { file: file(bytes) })
    const object = await found(storage, 'large/one.bin')
    assert.equal(object.size, bytes.length)
    assert.ok((await read(object)).equals(bytes))
    const part = await read(object, 4_999_000, 5_000_000)
    assert.ok(part.equals(bytes.subarray(4_999_000)))
  })

  test(`${name}: the same key may be stored again, and the new bytes count`, async () => {
    const storage = open()
    await storage.put('again/a', { file: file('the first, longer text') })
    await storage.put('again/a', { bytes: Buffer.from('second') })
    assert.equal((await read(await found(storage, 'again/a'))).toString(), 'second')
  })

  test(`${name}: an empty object is an object`, async () => {
    const storage = open()
    await storage.put('empty/a', { bytes: new Uint8Array() })
    assert.equal((await found(storage, 'empty/a')).size, 0)
  })

  test(`${name}: a deleted object is gone, and deleting is harmless when repeated`, async () => {
    const storage = open()
    await storage.put('gone/a', { bytes: Buffer.from('a') })
    await storage.put('gone/b', { bytes: Buffer.from('b') })
    await storage.delete('gone/a')
    await storage.delete('gone/a')
    assert.equal(await storage.open('gone/a'), undefined)
    assert.equal((await found(storage, 'gone/b')).size, 1)
    assert.equal(await storage.open('never/was'), undefined)
  })

  test(`${name}: a put that fails leaves the old object`, async () => {
    const storage = open()
    await storage.put('kept/a', { bytes: Buffer.from('old') })
    await assert.rejects(storage.put('kept/a', { file: join(folder, 'missing') }))
    assert.equal((await read(await found(storage, 'kept/a'))).toString(), 'old')
  })

  test(`${name}: a reader that goes away early breaks nothing`, async () => {
    const storage = open()
    await storage.put('early/a', { bytes: Buffer.alloc(2_000_000, 1) })
    const object = await found(storage, 'early/a')
    const stream = await object.stream({ start: 0, end: object.size - 1 })
    const leaving = new Writable({ write: (_chunk, _encoding, done) => done(new Error('gone')) })
    await assert.rejects(pipeline(stream, leaving), /gone/)
    assert.ok(stream.destroyed)
    assert.equal((await read(object, 0, 9)).length, 10)
  })

  for (const key of badKeys)
    test(`${name}: ${JSON.stringify(key.slice(0, 20))} is no key`, async () => {
      const storage = open()
      await assert.rejects(async () => storage.open(key), /no object key/)
      await assert.rejects(
        async () => storage.put(key, { bytes: Buffer.from('x') }),
        /no object key/,
      )
      await assert.rejects(async () => storage.delete(key), /no object key/)
    })
}

const badKeys = [
  '../x',
  'a/../x',
  '/x',
  'a//b',
  '',
  '.x',
  'a/.',
  'a b',
  'a\0b',
  'a\\b',
  'a/',
  'x'.repeat(513),
]
