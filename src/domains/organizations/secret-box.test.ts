import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { createSecretBox } from './secret-box.ts'

it('opens what it sealed, by a key that only this user reads, and nothing else', (t) => {
  const dataFolder = mkdtempSync(join(tmpdir(), 'outdial-secret-'))
  t.after(() => rmSync(dataFolder, { recursive: true }))
  const box = createSecretBox({ secretKey: undefined, dataFolder })
  const sealed = box.seal('pass word', 'trunk a')
  assert.ok(!sealed.includes('pass word'))
  assert.notDeepEqual(box.seal('pass word', 'trunk a'), sealed)
  assert.equal(statSync(join(dataFolder, 'secret-key')).mode & 0o777, 0o600)
  const again = createSecretBox({ secretKey: undefined, dataFolder })
  assert.equal(again.open(sealed, 'trunk a'), 'pass word')
  assert.throws(() => again.open(sealed, 'trunk b'), /was changed/)
  const changed = Buffer.from(sealed)
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1
  assert.throws(() => again.open(changed, 'trunk a'), /was changed/)
  const other = createSecretBox({ secretKey: Buffer.alloc(32, 7).toString('base64'), dataFolder })
  assert.throws(() => other.open(sealed, 'trunk a'), /OUTDIAL_SECRET_KEY/)
  assert.deepEqual([again.canOpen(sealed), other.canOpen(sealed)], [true, false])
})

it('makes no key by opening, so that the missing one can still be put in its place', (t) => {
  const dataFolder = mkdtempSync(join(tmpdir(), 'outdial-secret-'))
  t.after(() => rmSync(dataFolder, { recursive: true }))
  const secretKey = Buffer.alloc(32, 7).toString('base64')
  const sealed = createSecretBox({ secretKey, dataFolder }).seal('pass word', 'trunk a')
  const box = createSecretBox({ secretKey: undefined, dataFolder })
  assert.equal(box.canOpen(sealed), false)
  assert.throws(() => box.open(sealed, 'trunk a'), /OUTDIAL_SECRET_KEY/)
  writeFileSync(join(dataFolder, 'secret-key'), `${secretKey}\n`)
  assert.equal(box.open(sealed, 'trunk a'), 'pass word')
})
