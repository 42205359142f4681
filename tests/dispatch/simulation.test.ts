import assert from 'node:assert/strict'
import { it } from 'node:test'
import { runHistories } from './simulation/run-histories.ts'

/** More: `npm run chaos simulate -- --seeds 20000`. */
const seeds = 100

it(`keeps every promise in ${seeds} random histories, around clock changes of three zones`, async () => {
  const { done, failures } = await runHistories({ from: 1, seeds })
  assert.deepEqual(failures, [])
  assert.equal(done, seeds)
})
