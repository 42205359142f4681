import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorEnvelope } from '../../src/contract/error-envelope.ts'
import { errorCodes } from '../../src/contract/errors.ts'
import { errorExamples } from '../../src/contract/openapi/error-examples.ts'
import { collectErrorExamples } from '../support/error-examples.ts'

test('the error examples in the reference are the API’s real responses, one for each code', async () => {
  const answered = await collectErrorExamples()
  for (const code of errorCodes) {
    const { error } = errorEnvelope.parse(answered[code])
    assert.equal(error.code, code)
  }
  assert.deepEqual(errorExamples, answered, 'Run: node scripts/generate-error-examples.ts')
})
