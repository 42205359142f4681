import assert from 'node:assert/strict'
import { it } from 'node:test'
import { fc } from '../../tests/support/properties.ts'
import { MinHeap } from './min-heap.ts'

it('gives back what was pushed, smallest first, however pushes and pops alternate', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer(), { nil: undefined })), (steps) => {
      const heap = new MinHeap<number>((left, right) => left < right)
      const model: number[] = []
      for (const step of steps) {
        if (step === undefined) assert.equal(heap.pop(), model.shift())
        else {
          heap.push(step)
          model.push(step)
          model.sort((left, right) => left - right)
        }
        assert.equal(heap.peek(), model[0])
        assert.equal(heap.size, model.length)
      }
    }),
  )
})
