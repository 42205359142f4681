// Runs beside others: it waits for most of its 8 s.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { createNewInstallation } from '../support/outdial-process.ts'
import { until } from '../support/until.ts'

interface StartDocument {
  readonly api_url: string
  readonly media_url: string
  readonly data: string
  readonly first_start?: { api_key: string; agent_id: string; contact_id: string }
}

const documentIn = (text: string): StartDocument | undefined => {
  try {
    return JSON.parse(text) as StartDocument
  } catch {
    return undefined
  }
}

test('a start prints one JSON document with a working key, and nothing else until its end', async () => {
  const { env, data, remove } = await createNewInstallation()
  const main = join(import.meta.dirname, '../../src/main.ts')
  const child = spawn(process.execPath, [main, 'start', '--json'], { env, stdio: 'pipe' })
  let stdout = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.resume()
  const closed = once(child, 'close')
  try {
    const told = await until('the document', () => documentIn(stdout), { timeoutMs: 60_000 })
    assert.equal(told.api_url, `http://127.0.0.1:${env['OUTDIAL_API_PORT']}`)
    assert.equal(told.media_url, `http://127.0.0.1:${env['OUTDIAL_MEDIA_PORT']}`)
    assert.equal(told.data, data)
    const answer = await fetch(`${told.api_url}/contacts/${told.first_start?.contact_id}`, {
      headers: { authorization: `Bearer ${told.first_start?.api_key}` },
    })
    assert.equal(answer.status, 200)
  } finally {
    child.kill('SIGTERM')
    await closed
    remove()
  }
  assert.equal(child.exitCode, 0)
  assert.ok(documentIn(stdout), stdout)
})
