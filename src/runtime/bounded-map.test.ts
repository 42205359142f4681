import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../tests/support/properties.ts'
import { BoundedMap } from './bounded-map.ts'
import { createManualTime } from '../../tests/support/manual-time.ts'

test('the entry that was set longest ago makes room, however often it was read', () => {
  const evicted: string[] = []
  const map = new BoundedMap<string, number>({ maxSize: 2, onEvicted: (key) => evicted.push(key) })
  map.set('a', 1)
  map.set('b', 2)
  map.set('a', 3)
  assert.equal(map.get('b'), 2)
  map.set('c', 4)
  assert.deepEqual([...map], [['a', 3], ['c', 4]]) // prettier-ignore
  assert.deepEqual(evicted, ['b'])
  assert.equal(map.delete('a'), true)
  assert.equal(map.has('a'), false)
  map.clear()
  assert.equal(map.size, 0)
})

test('an entry past its age is not found, and the next one that comes frees its room', () => {
  const time = createManualTime()
  const evicted: string[] = []
  const map = new BoundedMap<string, number>({
    maxSize: 10,
    age: { maxMs: 1000, clock: time },
    onEvicted: (key) => evicted.push(key),
  })
  map.set('a', 1)
  time.advance(600)
  map.set('b', 2)
  time.advance(399)
  assert.equal(map.get('a'), 1)
  time.advance(1)
  assert.equal(map.get('a'), undefined)
  assert.equal(map.has('a'), false)
  assert.deepEqual([...map], [['b', 2]])
  assert.equal(map.size, 2)
  map.set('b', 3)
  assert.equal(map.size, 1)
  time.advance(999)
  assert.equal(map.get('b'), 3)
  assert.deepEqual(evicted, [], 'nothing had to make room')
})

test('after any sets and deletions the newest are there, and no more than fit', () => {
  const steps = fc.array(fc.tuple(fc.nat(12), fc.boolean()), { maxLength: 200 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), steps, (maxSize, all) => {
      const map = new BoundedMap<number, number>({ maxSize })
      let expected: number[] = []
      for (const [key, isDeleted] of all) {
        expected = expected.filter((each) => each !== key)
        if (isDeleted) map.delete(key)
        else {
          map.set(key, key)
          expected = [...expected, key].slice(-maxSize)
        }
      }
      assert.deepEqual(
        [...map].map(([key]) => key),
        expected,
      )
    }),
  )
})
