import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countDown } from './count-down.ts'

const linesOf = async (counts: readonly number[], limitMs = 120_000): Promise<string[]> => {
  const told: string[] = []
  const over = new AbortController()
  let look = 0
  await countDown(
    {
      liveCalls: () => counts[look] ?? assert.fail('it looks no more once it is over'),
      tell: (text) => told.push(text),
      limitMs,
      wait: async () => {
        look += 1
        if (look === counts.length) over.abort()
      },
    },
    over.signal,
  )
  return told
}

test('the remaining calls are counted down, each number once', async () => {
  assert.deepEqual(await linesOf([3, 3, 1, 1, 0, 0]), [
    '3 calls are still live; after 120 s what remains is hung up.',
    '1 call is still live; after 119 s what remains is hung up.',
    'No call is live any more.',
  ])
})

test('a long call is reported every ten seconds, and at the end of the time', async () => {
  assert.deepEqual(await linesOf(Array<number>(41).fill(1), 20_000), [
    '1 call is still live; after 20 s what remains is hung up.',
    '1 call is still live; after 10 s what remains is hung up.',
    '1 call is still live: the time is over, hanging up.',
  ])
})

test('nothing is printed without a live call', async () => {
  assert.deepEqual(await linesOf(Array<number>(30).fill(0)), [])
})
