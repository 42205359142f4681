import assert from 'node:assert/strict'
import { test } from 'node:test'
import { draftOf } from '../../dashboard/src/pages/automations/draft.ts'
import { graphOf, wayId } from '../../dashboard/src/pages/automations/flow/graph.ts'
import {
  layoutOf,
  stepHeight,
  stepWidth,
} from '../../dashboard/src/pages/automations/flow/layout.ts'
import { inOrder, momentOf } from '../../dashboard/src/pages/automations/flow/replay.ts'

const graphOfDefinition = (definition: unknown) =>
  graphOf(
    draftOf({ name: '' }, definition) ?? assert.fail('no draft'),
    new Map([['x', 'Reminder agent']]),
  )

const definition = {
  entry: 'ring',
  steps: {
    ring: {
      type: 'call',
      agent_id: 'x',
      next: 'route',
      retry: { max_attempts: 3, delays: ['PT1H'], on: ['busy'] },
    },
    route: {
      type: 'branch',
      cases: [
        { when: { outcome: ['achieved'] }, next: 'done' },
        {
          when: { answer_status: ['no_answer', 'busy'], 'contact.country': ['US'] },
          next: 'pause',
        },
        { when: { outcome: ['opted_out'] }, next: 'done' },
      ],
      otherwise: 'nowhere',
    },
    pause: { type: 'wait', for: 'PT1H', until_local_time: '10:00', next: 'ring' },
    done: { type: 'end', result: 'completed' },
  },
}

test('a flow has every step and every way, in words', () => {
  const { steps, ways } = graphOfDefinition(definition)
  assert.deepEqual(
    steps.map(({ name, kind, detail, isMissing }) => [name, kind, detail, isMissing]),
    [
      ['ring', 'call', 'Reminder agent, up to 3 attempts', false],
      ['route', 'branch', '3 cases', false],
      ['done', 'end', 'completed', false],
      ['pause', 'wait', '1 hour, until 10:00', false],
      ['nowhere', 'missing', 'no such step', true],
    ],
  )
  assert.deepEqual(
    ways.map(({ from, to, conditions }) => [from, to, conditions]),
    [
      [undefined, 'ring', []],
      ['ring', 'route', []],
      ['route', 'done', ['1. achieved', '3. opted out']],
      ['route', 'pause', ['2. no answer or busy, contact.country: US']],
      ['route', 'nowhere', ['otherwise']],
      ['pause', 'ring', []],
    ],
  )
})

test('no two steps are drawn over each other, and every way has a line', () => {
  // A chain that leads back to its begin, with a way to the end from each step.
  const names = Array.from({ length: 99 }, (_, at) => `step ${at}`)
  const chain = {
    entry: 'step 0',
    steps: {
      ...Object.fromEntries(
        names.map((name, at) => [
          name,
          {
            type: 'branch',
            cases: [{ when: {}, next: 'end' }],
            otherwise: names[(at + 1) % names.length],
          },
        ]),
      ),
      end: { type: 'end', result: 'completed' },
    },
  }
  const graph = graphOfDefinition(chain)
  const layout = layoutOf(graph)
  const corners = [...layout.steps.values()]
  assert.equal(corners.length, 100)
  for (const [at, a] of corners.entries())
    for (const b of corners.slice(at + 1))
      assert.ok(Math.abs(a.x - b.x) >= stepWidth || Math.abs(a.y - b.y) >= stepHeight)
  for (const { id } of graph.ways) assert.match(layout.ways.get(id)?.path ?? '', /^M .* L /)
})

test('odd definitions are drawn as far as they can be read', () => {
  const odd = {
    entry: 'a',
    steps: { a: { type: 'call', next: 'a' }, constructor: { next: 'begin' }, '': 3, '[1]': null },
  }
  const layout = layoutOf(graphOfDefinition(odd))
  assert.deepEqual([...layout.steps.keys()], ['a', 'constructor', '', '[1]', 'begin'])
  assert.match(layout.ways.get(wayId('a', 'a'))?.path ?? '', /^M /)
  const none = layoutOf(graphOfDefinition({ steps: {} }))
  assert.deepEqual([none.steps.size, none.ways.size, none.begin], [0, 0, undefined])
})

test('a replay lights the way that was gone so far, and no other', () => {
  const at = '2026-01-01T00:00:00.000Z'
  const told: readonly (readonly [string, string | undefined])[] = [
    ['start', 'ring'],
    ['call', 'ring'],
    ['retry_delay', 'ring'],
    ['call', 'ring'],
    ['move', 'route'],
    ['move', 'pause'],
    ['wait_step', 'pause'],
    ['move', 'ring'],
    ['cancel', 'ring'],
  ]
  const moves = inOrder(
    told
      .map(([move, step], index) => ({
        sequence: index + 1,
        at,
        move,
        reason: '',
        ...(step !== undefined && { step }),
      }))
      .toReversed(),
  )
  const placesAt = (index: number) => {
    const moment = momentOf(moves, index) ?? assert.fail('no moment')
    return {
      places: Object.fromEntries([...moment.marks].map(([name, { place }]) => [name, place])),
      ways: [...moment.ways],
    }
  }
  assert.deepEqual(placesAt(0), { places: { ring: 'here' }, ways: [wayId(undefined, 'ring')] })
  assert.deepEqual(placesAt(3), placesAt(0))
  assert.deepEqual(placesAt(5), {
    places: { ring: 'passed', route: 'passed', pause: 'here' },
    ways: [wayId(undefined, 'ring'), wayId('ring', 'route'), wayId('route', 'pause')],
  })
  assert.deepEqual(placesAt(8).places, { ring: 'here', route: 'passed', pause: 'passed' })
  assert.ok(placesAt(8).ways.includes(wayId('pause', 'ring')))
  assert.equal(momentOf(moves, 9), undefined)
  assert.equal(momentOf([], 0), undefined)
  // The oldest moves of a long run are not shown: its first known move leads from nowhere.
  const cut = moves.slice(4)
  assert.deepEqual([...(momentOf(cut, 1)?.ways ?? [])], [wayId('route', 'pause')])
})
