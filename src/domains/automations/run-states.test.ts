import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { automationRunStatuses, runFailureCodes } from '../../contract/automation-runs.ts'
import { isActive, runStatusesBefore, runTransitions } from './run-states.ts'

const documented = readFileSync(join(import.meta.dirname, '../../../docs/automations.md'), 'utf8')

test('the documentation draws exactly the transitions of the program', () => {
  const drawn = [...documented.matchAll(/^ {2}(\w+) --> (\w+)$/gm)]
    .map(([, from, to]) => `${from} ${to}`)
    .filter((pair) => automationRunStatuses.some((status) => pair.startsWith(`${status} `)))
  const known = Object.entries(runTransitions).flatMap(([from, all]) =>
    all.map((to) => `${from} ${to}`),
  )
  assert.deepEqual(drawn.toSorted(), known.toSorted())
})

test('the documentation explains every failure code', () => {
  for (const code of runFailureCodes) assert.ok(documented.includes(`\`${code}\``), code)
})

test('a status is entered only from those that lead to it, and kept while something follows it', () => {
  assert.deepEqual(runStatusesBefore('running'), ['queued', 'running', 'waiting'])
  assert.deepEqual(runStatusesBefore('completed'), ['running'])
  assert.deepEqual(automationRunStatuses.filter(isActive), ['queued', 'running', 'waiting'])
})
