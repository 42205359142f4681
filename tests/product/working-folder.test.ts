// Runs beside others: it waits for most of its 8 s.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, beforeEach, test } from 'node:test'
import { createNewInstallation } from '../support/outdial-process.ts'

/** What a command finds in its working folder: settings, and perhaps an installation. */

const root = join(import.meta.dirname, '../..')
const scratch = mkdtempSync(join(tmpdir(), 'outdial-folder-'))
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(scratch, 'here-'))
})
after(() => rmSync(scratch, { recursive: true }))

/** A command in that folder, with only the given settings. */
const run = async (args: readonly string[], settings: Record<string, string> = {}) => {
  const installation = await createNewInstallation()
  installation.remove()
  const inherited = Object.entries(installation.env).filter(
    ([name]) => !name.startsWith('OUTDIAL_'),
  )
  const child = spawn(process.execPath, [join(root, 'src/main.ts'), ...args], {
    cwd: folder,
    env: { ...Object.fromEntries(inherited), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { status: child.exitCode, stdout, stderr }
}

test('a command that reads names the folder it looked in, and creates no installation', async () => {
  for (const args of [
    ['org', 'list'],
    ['call', 'show', 'an-id'],
    ['backup', join(folder, 'file')],
  ]) {
    const { status, stdout, stderr } = await run(args)
    assert.deepEqual([status, stdout], [1, ''])
    assert.ok(
      stderr.startsWith(`There is no installation in ${join(folder, '.outdial')}: `),
      stderr,
    )
    assert.match(stderr, /outdial start.*OUTDIAL_DATA/)
  }
  const doctor = await run(['doctor', '--json'])
  assert.match(doctor.stdout, /There is no installation in/)
  assert.deepEqual(readdirSync(folder), [])
})

test('the settings example can be copied unchanged', async () => {
  copyFileSync(join(root, '.env.example'), join(folder, '.env'))
  const { stderr } = await run(['org', 'list'])
  assert.ok(stderr.startsWith(`There is no installation in ${join(folder, '.outdial')}: `), stderr)
})

test('settings of the folder apply, and the environment overrides them', async () => {
  writeFileSync(join(folder, '.env'), 'OUTDIAL_DATA=mine\n')
  const told = async (settings = {}): Promise<string> =>
    (await run(['org', 'list'], settings)).stderr
  assert.match(await told(), /no installation in \S+\/mine:/)
  assert.match(await told({ OUTDIAL_DATA: 'other' }), /no installation in \S+\/other:/)
  writeFileSync(join(folder, '.env'), 'OUTDIAL_DATA=mine\nOUTDIAL_DTAA=x\n')
  assert.match(
    await told(),
    /\.env line 2: OUTDIAL_DTAA is not a setting; did you mean OUTDIAL_DATA/,
  )
  writeFileSync(join(folder, '.env'), '# ports\nOUTDIAL_API_PORT=eighty\n')
  assert.match(await told(), /\.env line 2: OUTDIAL_API_PORT must be a whole number/)
  assert.match(await told({ OUTDIAL_API_PORT: 'ninety' }), /^OUTDIAL_API_PORT must be/)
  assert.equal(existsSync(join(folder, 'mine')), false)
})
