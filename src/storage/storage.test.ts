import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createFolderStorage } from './folder-storage.ts'
import { testStorage } from '../../tests/support/storage/storage-conformance.ts'
import { signUrl, verifySignedUrl, type SigningKey } from './signed-url.ts'

const all = mkdtempSync(join(tmpdir(), 'outdial-storage-'))
const folder = () => mkdtempSync(join(all, 'folder-'))

after(() => rmSync(all, { recursive: true }))

testStorage('the folder', () => createFolderStorage(folder()))

test('a put leaves no unfinished file behind, whether it succeeded or not', async () => {
  const root = folder()
  const storage = createFolderStorage(root)
  await storage.put('a/b', { bytes: Buffer.from('old') })
  await assert.rejects(storage.put('a/b', { file: join(root, 'missing') }))
  assert.deepEqual(readdirSync(join(root, 'a')), ['b'])
})

test('no other user of the machine may read an object or list its folder', async () => {
  const root = folder()
  const storage = createFolderStorage(root)
  const source = join(root, 'source')
  writeFileSync(source, 'copied', { mode: 0o644 })
  await storage.put('a/b', { bytes: Buffer.from('written') })
  await storage.put('a/c', { file: source })
  const modeOf = (path: string): number => statSync(join(root, path)).mode & 0o777
  assert.deepEqual([modeOf('a'), modeOf('a/b'), modeOf('a/c')], [0o700, 0o600, 0o600])
})

const recordingId = '0198f1a2-7b1c-5c3d-9e4f-0123456789ab'
const keys: [SigningKey, SigningKey] = [
  { keyId: '2', secret: Buffer.alloc(32, 2) },
  { keyId: '1', secret: Buffer.alloc(32, 1) },
]
const expiresAt = new Date('2026-11-20T12:00:00.250Z')
const justBefore = new Date('2026-11-20T12:00:00.249Z')
const grant = { origin: 'http://127.0.0.1:4002', recordingId, expiresAt, key: keys[0] }

test('a signed URL is valid until its millisecond, and short', () => {
  const url = new URL(signUrl(grant))
  assert.ok(url.href.length < 250)
  assert.deepEqual(verifySignedUrl(url, keys, justBefore), { recordingId })
  assert.equal(verifySignedUrl(url, keys, expiresAt), undefined)
})

test('each URL is unique, also within one millisecond', () => {
  assert.equal(new Set(Array.from({ length: 100 }, () => signUrl(grant))).size, 100)
})

test('an older secret still verifies, a retired one does not', () => {
  const url = new URL(signUrl({ ...grant, key: keys[1] }))
  assert.deepEqual(verifySignedUrl(url, keys, justBefore), { recordingId })
  assert.equal(verifySignedUrl(url, [keys[0]], justBefore), undefined)
})

test('any altered, added or repeated part of it is refused', () => {
  const good = signUrl(grant)
  const other = recordingId.replace('0198', '0199')
  const altered = [
    good.replace(recordingId, other),
    good.replace(/e=\d+/, 'e=9999999999999'),
    good.replace('k=2', 'k=1'),
    good.replace(/n=\w/, (text) => (text === 'n=A' ? 'n=B' : 'n=A')),
    good.replace(/&n=\w+/, ''),
    good.replace(/s=./, (text) => (text === 's=A' ? 's=B' : 's=A')),
    good.replace(/.$/, ''),
    `${good}&x=1`,
    `${good}&e=1`,
    good.replace(/&s=.*/, ''),
    good.replace('/recordings/', '/recordings//'),
  ]
  for (const url of altered)
    assert.equal(verifySignedUrl(new URL(url), keys, justBefore), undefined, url)
  // The last character has spare bits: another spelling of the same bytes is refused as well.
  const spellings = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')
    .map((last) => good.replace(/.$/, last))
    .filter((url) => verifySignedUrl(new URL(url), keys, justBefore) !== undefined)
  assert.deepEqual(spellings, [good])
})
