import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { documentFile, missingJudges, runJudge } from './judge.ts'

const skip = missingJudges() ?? false

test('Redocly finds nothing wrong with the published document', { skip }, () => {
  const { status, output } = runJudge('redocly', 'lint', documentFile, '--extends=recommended')
  assert.equal(status, 0, output)
  assert.match(output, /is valid/)
  assert.doesNotMatch(output, /warning/i)
})

test('Spectral finds no error in the published document', { skip }, () => {
  const ruleset = join(import.meta.dirname, 'spectral.yaml')
  const { status, output } = runJudge('spectral', 'lint', '-r', ruleset, documentFile)
  assert.equal(status, 0, output)
  assert.match(output, /No results with a severity of 'error' found/)
})
