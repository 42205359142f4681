import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fuzzApi } from '../fuzz/api-fuzz.ts'
import { startApiFixture } from '../support/api-fixture.ts'

test('1,500 hostile requests get no 5xx, and every answer is as described', async () => {
  const api = await startApiFixture()
  const rateLimits = { read: 1e9, write: 1e9, execution: 1e9, transcript: 1e9, recording: 1e9 }
  const key = api.makeKey({ rateLimits })
  const { statuses, faults } = await fuzzApi({ url: api.url, key, requests: 1500, seed: 17 })
  await api.stop()
  assert.deepEqual(faults, [])
  // The requests must reach every step, or the test shows nothing.
  for (const status of [200, 201, 202, 400, 401, 404, 405])
    assert.ok(statuses.has(status), `${status}`)
})
