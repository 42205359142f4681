import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createTestDatabase } from '../../tests/support/test-database.ts'
import { archiveAgent } from '../domains/agents/archive-agent.ts'
import { prepareFirstStart } from '../operator/first-start.ts'
import { isSandboxAgentInUse, writeSandboxEnv } from './sandbox-env.ts'

test('the agent of sandbox.env is in use until it is archived', async (t) => {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  const folder = mkdtempSync(join(tmpdir(), 'outdial-sandbox-env-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const made = await prepareFirstStart(database.db)
  assert.ok(made)
  writeSandboxEnv(folder, { apiUrl: 'http://127.0.0.1:4010', ...made })
  assert.equal(await isSandboxAgentInUse(database.db, folder), true)
  await archiveAgent(database.db, made.agentId)
  assert.equal(await isSandboxAgentInUse(database.db, folder), false)
})
