import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  createCallingOrganization,
  execute,
  queueCalls,
} from '../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../tests/support/test-database.ts'
import { sql } from '../database/database.ts'
import { listResultHeads } from '../domains/results/result-heads.ts'
import { reprocessCall } from './reprocess-call.ts'

let test: TestDatabase
before(async () => {
  test = await createTestDatabase()
})
after(() => test.drop())

const jobsStatement = sql(
  'test.jobs',
  `select count(*)::int as jobs from graphile_worker.jobs where task_identifier = 'summarize_call' and key like '%' || $1`,
)

describe('the re-run of a call', () => {
  it('retries an exhausted summary, once', async () => {
    const { db } = test
    const organization = await createCallingOrganization(db)
    const [call] = await queueCalls(db, organization, 1)
    assert.ok(call)
    const key = { organizationId: organization.organizationId, callId: call.id }
    const refused = { name: 'OperatorError', message: /nothing to be tried again/ }
    await assert.rejects(reprocessCall(db, key), refused)
    await execute(
      db,
      `insert into results (organization_id, call_id, kind, status, reason)
       values ($1, $2, 'summary', 'exhausted', 'provider_error')`,
      [key.organizationId, key.callId],
    )
    await reprocessCall(db, key)
    const [summary] = await listResultHeads(db, key)
    assert.equal(summary?.status, 'processing')
    assert.deepEqual(await db.row(jobsStatement, [call.id]), { jobs: 1 })
    await assert.rejects(reprocessCall(db, key), refused)
  })
})
