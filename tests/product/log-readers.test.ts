// Runs beside others: it waits for most of its 40 s.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { terminalStates } from '../support/api-client.ts'
import {
  createInstallation,
  createNewInstallation,
  type OutdialProcess,
} from '../support/outdial-process.ts'
import { openSandboxTenant } from '../support/sandbox-tenant.ts'
import { until } from '../support/until.ts'

/** The service with an unread log: a full disk, and a pipe whose reader is blocked. */

const main = join(import.meta.dirname, '../../src/main.ts')

const start = async (t: TestContext, stdout: number, stderr: number) => {
  const installation = await createInstallation({ OUTDIAL_LOG_LEVEL: 'debug' })
  const { env } = installation
  const child = spawn(process.execPath, [main, 'start'], {
    env,
    stdio: ['ignore', stdout, stderr],
  })
  const exited = once(child, 'exit')
  t.after(async () => {
    child.kill('SIGKILL')
    await exited
    installation.remove()
  })
  const apiUrl = `http://127.0.0.1:${env['OUTDIAL_API_PORT']}`
  await until(
    'the service to be ready',
    async () => {
      assert.equal(child.exitCode, null)
      return (await fetch(`${apiUrl}/readyz`).catch(() => undefined))?.ok
    },
    { timeoutMs: 180_000 },
  )
  const end = async (): Promise<number | null> => {
    child.kill('SIGTERM')
    await exited
    return child.exitCode
  }
  return { apiUrl, env, child, output: () => '', stop: end, kill: async () => undefined }
}

/** A call lasts from its first to its last word, while the process is probed. */
const holdCall = async (outdial: OutdialProcess): Promise<void> => {
  const { agent, api } = await openSandboxTenant(outdial)
  const number = '+12025550100'
  const placed = await api.post('/calls', {
    agent_id: agent,
    recipient: { external_id: number, name: 'Ada Lovelace', phone_number: number },
  })
  assert.equal(placed.status, 202)
  const ended = await until(
    'the call to end',
    async () => {
      assert.equal((await fetch(`${outdial.apiUrl}/healthz`)).status, 200)
      const { body } = await api.get(`/calls/${String(placed.body['id'])}`)
      return terminalStates.includes(String(body['status'])) ? body : undefined
    },
    { timeoutMs: 120_000 },
  )
  assert.deepEqual([ended['status'], ended['answer_status']], ['completed', 'answered'])
}

const isLinux = process.platform === 'linux' ? {} : { skip: 'there is no /dev/full here' }

/** A full pipe whose reader is this test. */
const fullPipe = (folder: string) => {
  const path = join(folder, 'log')
  assert.equal(spawnSync('mkfifo', [path]).status, 0)
  // Both ends, so that opening does not block.
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  const filler = Buffer.alloc(4_096, '.')
  const isTaken = (size: number): boolean => {
    try {
      return writeSync(pipe, filler, 0, size) > 0
    } catch {
      return false
    }
  }
  for (const size of [4_096, 1]) while (isTaken(size)) continue
  return { path, pipe }
}

describe('an unread log', { concurrency: true }, () => {
  it('a full disk under the log ends neither the process nor its calls', isLinux, async (t) => {
    const full = openSync('/dev/full', constants.O_WRONLY)
    const outdial = await start(t, full, full)
    closeSync(full)
    await holdCall(outdial)
    assert.equal(await outdial.stop(), 0)
  })

  it('a blocked reader of the log delays no call, and misses no line', isLinux, async (t) => {
    const folder = await createNewInstallation()
    t.after(folder.remove)
    const { path, pipe } = fullPipe(folder.data)
    const end = openSync(path, constants.O_WRONLY)
    const outdial = await start(t, end, end)
    closeSync(end)
    await holdCall(outdial)
    const stopped = outdial.stop()
    let log = ''
    const chunk = Buffer.alloc(65_536)
    const readOn = (): void => {
      try {
        for (;;) log += chunk.toString('utf8', 0, readSync(pipe, chunk))
      } catch {
        // No data at the moment.
      }
    }
    await until('the last lines', async () => {
      readOn()
      return outdial.child.exitCode === null ? undefined : true
    })
    readOn()
    closeSync(pipe)
    assert.equal(await stopped, 0)
    const lines = log
      .replace(/^\.+/, '')
      .split('\n')
      .filter((line) => line.startsWith('{'))
    const messages = lines.map((line) => (JSON.parse(line) as { msg: string }).msg)
    assert.ok(messages.length > 10, String(messages.length))
    assert.ok(!messages.some((message) => message.includes('dropped')))
    assert.match(log, /Stopped\. Queued work is kept/)
  })
})
