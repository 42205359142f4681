import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createThreadLogger, type ThreadLogMessage } from './thread-logger.ts'

test('a line of a worker carries its bound fields, and always survives the way', () => {
  const posted: ThreadLogMessage[] = []
  const logger = createThreadLogger((message) => posted.push(structuredClone(message)))
  logger.child({ call_id: 'a' }).warn({ err: new Error('late') }, 'slow')
  logger.error({ socket: () => undefined, count: 2 }, 'broken')
  logger.debug({}, 'kept back')
  assert.deepEqual(
    posted.map(({ level, message }) => [level, message]),
    [
      ['warn', 'slow'],
      ['error', 'broken'],
    ],
  )
  const [first, second] = posted.map(({ fields }) => fields as Record<string, unknown>)
  assert.equal(first?.['call_id'], 'a')
  assert.ok(first?.['err'] instanceof Error && first['err'].message === 'late')
  assert.equal(second?.['count'], '2')
})
