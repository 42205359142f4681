import assert from 'node:assert/strict'
import { test } from 'node:test'
import { differencesOf } from '../../dashboard/src/pages/automations/differences.ts'
import {
  addStep,
  definitionOf,
  draftOf,
  emptyDraft,
  fileOf,
  moveStep,
  ofKind,
  problemsOfStep,
  removeStep,
  renameStep,
  type Draft,
} from '../../dashboard/src/pages/automations/draft.ts'
import { durationParts, durationText } from '../../dashboard/src/pages/automations/duration.ts'
import { readText } from '../../dashboard/src/pages/automations/json-text.ts'

const read = (definition: unknown): Draft =>
  draftOf({ name: 'Test' }, definition) ?? assert.fail('no draft')

const chain = {
  entry: 'a',
  steps: {
    a: { type: 'call', agent_id: 'x', next: 'b' },
    b: { type: 'wait', for: 'PT1H', next: 'c' },
    c: {
      type: 'branch',
      cases: [{ when: { outcome: ['achieved'] }, next: 'd' }],
      otherwise: 'a',
    },
    d: { type: 'end', result: 'completed' },
  },
}

const keyOf = (draft: Draft, name: string): number =>
  draft.steps.find((step) => step.name === name)?.key ?? assert.fail(name)

const namesOf = (draft: Draft): string[] => draft.steps.map(({ name }) => name)

const nextOf = (draft: Draft, name: string): unknown =>
  draft.steps.find((step) => step.name === name)?.step['next']

test('a definition is listed in the order of its flow, and written back as it was', () => {
  const { entry, steps } = chain
  const shuffled = {
    entry,
    steps: { d: steps.d, lost: steps.d, c: steps.c, b: steps.b, a: steps.a },
  }
  assert.deepEqual(namesOf(read(shuffled)), ['a', 'b', 'c', 'd', 'lost'])
  assert.deepEqual(definitionOf(read(shuffled)), shuffled)
  for (const odd of [null, 3, [], {}, { steps: [] }, { steps: null }])
    assert.equal(draftOf({ name: '' }, odd), undefined)
  assert.deepEqual(definitionOf(read({ steps: { a: 3 } })), { entry: '', steps: { a: {} } })
})

test('a step is added on the way, and leads to where the step before it led', () => {
  const added = addStep(read(chain), 'x')
  assert.deepEqual(namesOf(added.draft), ['a', 'b', 'step_5', 'c', 'd'])
  assert.deepEqual([nextOf(added.draft, 'b'), nextOf(added.draft, 'step_5')], ['step_5', 'c'])
  const below = addStep(read(chain), 'x', keyOf(read(chain), 'a')).draft
  assert.deepEqual([nextOf(below, 'a'), nextOf(below, 'step_5')], ['step_5', 'b'])
  assert.equal(addStep(emptyDraft('x'), 'x').draft.steps.length, 3)
})

test('a step that is removed or named anew takes along all that lead to it', () => {
  const draft = read(chain)
  const removed = removeStep(draft, keyOf(draft, 'a'))
  assert.equal(removed.entry, 'b')
  assert.deepEqual(removed.steps.find(({ name }) => name === 'c')?.step['otherwise'], 'b')
  const renamed = renameStep(draft, keyOf(draft, 'd'), 'over')
  assert.deepEqual(renamed.steps[2]?.step['cases'], [
    { when: { outcome: ['achieved'] }, next: 'over' },
  ])
  assert.equal(renameStep(draft, keyOf(draft, 'd'), 'a'), draft)
})

test('neighbours on the way change places on it, others in the list only', () => {
  const draft = read(chain)
  const moved = moveStep(draft, keyOf(draft, 'b'), -1)
  assert.deepEqual(namesOf(moved), ['b', 'a', 'c', 'd'])
  assert.deepEqual([moved.entry, nextOf(moved, 'b'), nextOf(moved, 'a')], ['b', 'a', 'c'])
  assert.equal(moved.steps[2]?.step['otherwise'], 'b')
  assert.deepEqual(definitionOf(moveStep(moved, keyOf(moved, 'b'), 1)), chain)
  const listed = moveStep(draft, keyOf(draft, 'd'), -1)
  assert.deepEqual(namesOf(listed), ['a', 'b', 'd', 'c'])
  assert.deepEqual(definitionOf(listed), chain)
  assert.equal(moveStep(draft, keyOf(draft, 'a'), -1), draft)
  assert.equal(moveStep(draft, keyOf(draft, 'd'), 1), draft)
})

test('another kind of step leads to where the old one led', () => {
  const call = chain.steps.a
  assert.deepEqual(ofKind('wait', call, ''), { type: 'wait', for: 'PT1H', next: 'b' })
  assert.equal(ofKind('branch', call, '')['otherwise'], 'b')
  assert.deepEqual(ofKind('call', chain.steps.c, 'y'), { type: 'call', agent_id: 'y', next: 'd' })
  assert.deepEqual(ofKind('end', call, ''), { type: 'end', result: 'completed' })
})

test('a text is a definition or a whole file, or says what is wrong with it', () => {
  const draft = emptyDraft('x')
  assert.deepEqual(readText(JSON.stringify(chain), draft).draft?.entry, 'a')
  const file = { name: 'Pasted', description: 'From a file', definition: chain }
  assert.deepEqual(fileOf(readText(JSON.stringify(file), draft).draft ?? draft), file)
  for (const text of ['', '{', '[]', '3', '{"entry": "a"}'])
    assert.notEqual(readText(text, draft).problem, undefined, text)
})

test('problems belong to the step whose name their path has', () => {
  const problems = [
    { path: 'definition.steps.a', message: 'One.' },
    { path: 'definition.steps.a.next', message: 'Two.' },
    { path: 'definition.steps.ab.next', message: 'Three.' },
  ]
  assert.deepEqual(
    [...problemsOfStep(problems, 'a')],
    [
      ['', 'One.'],
      ['next', 'Two.'],
    ],
  )
})

test('differences name each member that is new, gone or another', () => {
  const before = { a: [1, { b: 2 }], same: { x: 1 }, gone: 1 }
  assert.deepEqual(differencesOf(before, { same: { x: 1 }, a: [1, { b: 3 }, 4] }), [
    { path: 'a[1].b', before: 2, after: 3 },
    { path: 'a[2]', before: undefined, after: 4 },
    { path: 'gone', before: 1, after: undefined },
  ])
  assert.deepEqual(differencesOf(chain, chain), [])
})

test('a length of time is a number and a unit, or stays as it is written', () => {
  for (const text of ['PT30M', 'PT4H', 'P1D', 'P1DT2H', '', 'soon'])
    assert.equal(durationText(durationParts(text)), text)
  assert.deepEqual(durationParts('PT30M'), { amount: '30', unit: 'minutes' })
  assert.equal(durationText({ amount: '2', unit: 'days' }), 'P2D')
})
