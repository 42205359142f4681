// Runs beside others: it waits for most of its 8 s.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { findPostmaster } from '../../src/database/embedded-process.ts'
import { createNewInstallation, startOutdial } from '../support/outdial-process.ts'

const main = join(import.meta.dirname, '../../src/main.ts')
let installation: Awaited<ReturnType<typeof createNewInstallation>>

before(async () => {
  installation = await createNewInstallation({ OUTDIAL_LOG_LEVEL: 'debug' })
})
after(() => installation.remove())

test('a reader that has left is not an error of the command', async () => {
  const { env } = installation
  const child = spawn(process.execPath, [main, 'org', 'create', '--name', 'Ada'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.destroy()
  const [errors] = await Promise.all([text(child.stderr), once(child, 'exit')])
  assert.equal(errors, '')
  assert.equal(child.exitCode, 0)
})

/** Elsewhere, if PostgreSQL's user may not enter the data folder. */
const clusterOf = (data: string): string => {
  const pointer = join(data, 'postgres-location')
  const home = existsSync(pointer) ? readFileSync(pointer, 'utf8').trim() : join(data, 'postgres')
  return join(home, 'data')
}

test('the service goes on without a reader of its output or its log, and drains', async () => {
  const outdial = await startOutdial(installation.env)
  const cluster = clusterOf(installation.data)
  const running = findPostmaster(cluster)
  assert.doesNotMatch(outdial.output(), /^ +at /m)
  outdial.child.stdout?.destroy()
  outdial.child.stderr?.destroy()
  assert.equal(await outdial.stop(), 0)
  // It stopped the database itself, instead of leaving it to the orphan clean-up.
  assert.notEqual(running, undefined)
  assert.equal(findPostmaster(cluster), undefined)
})
