// Runs beside few others: it waits for most of its 74 s.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { testLimits } from './stage/attack.ts'
import { attacks } from './stage/attacks.ts'
import { describeRow, runAttacks } from './stage/run-attacks.ts'

/** The attacks that take seconds; the others are in `npm run attack`. */
const tried = [
  'first-start-key',
  'stranger-requests',
  'forged-dialog',
  'forged-responses',
  'trunk-reflection',
  'rtp-injection',
  'rtp-race',
  'late-route-set',
  'bye-flood',
  'storage-quotas',
  'sip-message-cost',
  'http-head-cost',
  'http-smuggling',
  'pipelined-requests',
  'connection-exhaustion',
]

const root = join(import.meta.dirname, '../..')
const needsLinux = process.platform === 'linux' ? false : 'only Linux has these loopback addresses'

describe('hostile strangers and tenants', { skip: needsLinux }, () => {
  it('break no promise while two calls are live', async (test) => {
    const rows = await runAttacks({
      root,
      limits: testLimits,
      attacks: attacks.filter(({ name }) => tried.includes(name)),
    })
    for (const row of rows) test.diagnostic(describeRow(row))
    const broken = rows.filter(({ problems }) => problems.length > 0)
    assert.deepEqual(broken.map(describeRow), [])
  })
})
