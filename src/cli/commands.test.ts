import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { captureCli } from '../../tests/support/cli/capture-cli.ts'
import manifest from '../../package.json' with { type: 'json' }
import { commandGroups } from './commands.ts'
import { namesOf, type CommandGroup, type LazyGroup } from './run-cli.ts'

/** Commands that must end before they open a database. */

const folder = mkdtempSync(join(tmpdir(), 'outdial-commands-'))
after(() => rmSync(folder, { recursive: true }))

const run = (...args: readonly string[]) => runWith(commandGroups, args)

/** Without a database: a command that opens one fails. */
const runWith = (groups: readonly (CommandGroup | LazyGroup)[], args: readonly string[]) =>
  captureCli(args, groups, { settings: { OUTDIAL_DATA: folder } })

test('a retention of zero days is refused: only the word turns it off', async () => {
  for (const days of ['0', '-1', '1.5', 'none']) {
    const { status, stderr } = await run('org', 'set', 'an-id', '--retention-days', days)
    assert.equal(status, 2, days)
    assert.match(stderr, /--retention-days/)
  }
})

test('a backup into a missing folder is refused with the folder’s name', async () => {
  const { status, stderr } = await run('backup', join(folder, 'nowhere', 'outdial.backup'))
  assert.equal(status, 1)
  assert.equal(
    stderr,
    `There is no folder ${join(folder, 'nowhere')}: make it, or name a file elsewhere.`,
  )
})

test('the version is that of the package', async () => {
  assert.deepEqual(await run('--version'), { status: 0, stdout: manifest.version, stderr: '' })
})

test('every command is found by its name, and the help lists them all', async () => {
  const { status, stdout } = await run('--help')
  assert.equal(status, 0)
  const loaded = await Promise.all(commandGroups.map((group) => group.load()))
  assert.equal((await runWith(loaded, ['--help'])).stdout, stdout)
  for (const group of commandGroups)
    for (const name of namesOf(group)) {
      assert.match(stdout, new RegExp(`^ {2}${name}\\b`, 'm'))
      const alone = await run(name, '--help')
      assert.equal(alone.status, 0, name)
      assert.match(alone.stdout, new RegExp(`^Usage: outdial ${name}\\b`))
      assert.deepEqual(await run('help', name), alone)
    }
})

test('an unknown command is refused with the nearest one', async () => {
  const { status, stderr } = await run('bacth')
  assert.equal(status, 2)
  assert.match(stderr, /unknown command 'bacth'[^]*Did you mean batch\?/)
})
