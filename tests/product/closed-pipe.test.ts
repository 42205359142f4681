import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { createInstallation } from '../support/outdial-process.ts'

const main = join(import.meta.dirname, '../../src/main.ts')
let installation: Awaited<ReturnType<typeof createInstallation>>

before(async () => {
  installation = await createInstallation({ OUTDIAL_LOG_LEVEL: 'error' })
})
after(() => installation.remove())

test('a reader that has left is no fault of the command', async () => {
  const { env } = installation
  const child = spawn(process.execPath, [main, 'org', 'list'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.destroy()
  const [errors] = await Promise.all([text(child.stderr), once(child, 'exit')])
  assert.equal(errors, '')
  assert.equal(child.exitCode, 0)
})
