import { after, before, describe, it } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { runCrowdedHistory, runHistory } from './simulation/run-history.ts'

/** Histories of each kind; the 2,000 of a night are `npm run chaos simulate -- --seeds 2000`. */
const histories = 40
/** On a slow machine there are fewer, but never so few. */
const timeLimitMs = 25_000
const fewest = 5

let test: TestDatabase

before(async () => {
  test = await createTestDatabase()
})
after(() => test.drop())

describe('random histories of the queue', () => {
  const run = async (history: typeof runHistory): Promise<number> => {
    const deadlineMs = performance.now() + timeLimitMs
    let done = 0
    while (done < histories && (done < fewest || performance.now() < deadlineMs)) {
      done += 1
      await history(test.db, done)
    }
    return done
  }

  it('keep every promise, one step at a time', async (context) => {
    context.diagnostic(`${await run(runHistory)} histories`)
  })

  it('keep every promise with four things at a time', async (context) => {
    context.diagnostic(`${await run(runCrowdedHistory)} histories`)
  })
})
