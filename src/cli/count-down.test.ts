import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countDown } from './count-down.ts'

const toldOf = async (counts: readonly number[]): Promise<string[]> => {
  const told: string[] = []
  const over = new AbortController()
  let look = 0
  await countDown(
    () => counts[look] ?? assert.fail('it looks no more once it is over'),
    (text) => told.push(text),
    over.signal,
    async () => {
      look += 1
      if (look === counts.length) over.abort()
    },
  )
  return told
}

test('the calls that remain are counted down, each number once', async () => {
  assert.deepEqual(await toldOf([3, 3, 1, 1, 0, 0]), [
    '3 calls are still live.',
    '1 call is still live.',
    'No call is live any more.',
  ])
})

test('nothing is said where no call was live', async () => {
  assert.deepEqual(await toldOf([0, 0]), [])
})
