import assert from 'node:assert/strict'
import { copyFileSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  askOutdial,
  createInstallation,
  createNewInstallation,
  runOutdial,
} from '../support/outdial-process.ts'

interface Report {
  readonly sealed_trunks: readonly string[]
}

test('a backup names the trunks whose key it lacks; a restore does so until the key is there', async () => {
  const first = await createInstallation()
  const [without, beside, set] = [
    await createNewInstallation(),
    await createNewInstallation(),
    await createNewInstallation(),
  ]
  const file = join(first.data, 'outdial.backup')
  const password = join(first.data, 'password')
  writeFileSync(password, 'pass word\n')
  try {
    const add = (name: string, ...more: string[]) =>
      askOutdial(first.env, 'trunk', 'add', name, '--uri', 'sip:127.0.0.1:5999', ...more)
    await add('sealed', '--user', 'acct', '--password-file', password)
    await add('open')
    const backup = await askOutdial<Report>(first.env, 'backup', file)
    assert.deepEqual(backup.sealed_trunks, ['sealed'])

    const restored = await runOutdial(without.env, 'restore', file)
    assert.equal(restored.status, 0, restored.stderr)
    const text = restored.stdout.replaceAll(/\s+/g, ' ')
    assert.match(
      text,
      /encrypted with another key: sealed\. Before the start set OUTDIAL_SECRET_KEY/,
    )
    // No new key stands in the way of the old one.
    assert.equal(existsSync(join(without.data, 'secret-key')), false)
    const shown = await askOutdial<{ has_password: boolean }>(
      without.env,
      'trunk',
      'show',
      'sealed',
    )
    assert.equal(shown.has_password, true)
    const tried = await runOutdial(without.env, 'trunk', 'test', 'sealed')
    assert.match(
      tried.stderr.replaceAll(/\s+/g, ' '),
      /encrypted with another key: set OUTDIAL_SECRET_KEY/,
    )

    copyFileSync(join(first.data, 'secret-key'), join(beside.data, 'secret-key'))
    assert.deepEqual((await askOutdial<Report>(beside.env, 'restore', file)).sealed_trunks, [])

    const other = { ...set.env, OUTDIAL_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') }
    assert.deepEqual((await askOutdial<Report>(other, 'restore', file)).sealed_trunks, ['sealed'])
  } finally {
    for (const each of [first, without, beside, set]) each.remove()
  }
})
