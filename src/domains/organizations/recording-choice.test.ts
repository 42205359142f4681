import assert from 'node:assert/strict'
import { it } from 'node:test'
import { isRecorded } from './recording-choice.ts'

it('records unless the organization or the agent wants no recording, or neither is known', () => {
  assert.equal(isRecorded('always', undefined), true)
  assert.equal(isRecorded('always', 'always'), true)
  assert.equal(isRecorded('always', 'never'), false)
  assert.equal(isRecorded('never', 'always'), false)
  assert.equal(isRecorded('never', undefined), false)
  assert.equal(isRecorded(undefined, 'always'), false)
})
