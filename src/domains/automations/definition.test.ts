import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { InvalidFileError } from '../organizations/invalid-file.ts'
import { readDefinition } from './definition.ts'
import { checkAutomationFile } from './definition-problems.ts'
import { drawDefinition } from './draw-definition.ts'

const end = { type: 'end', result: 'completed' }
const call = (next: string, more: object = {}) => ({ type: 'call', agent_id: 'a', next, ...more })
const wait = (next: string, more: object = { for: 'PT1H' }) => ({ type: 'wait', next, ...more })
const branch = (to: string, otherwise: string, when: object = { outcome: ['achieved'] }) => ({
  type: 'branch',
  cases: [{ when, next: to }],
  otherwise,
})
const file = (steps: object, entry = 'first') => ({ name: 'N', definition: { entry, steps } })

/** The problems of a file as `path: sentence` lines. */
const problems = (value: unknown): string[] => {
  try {
    checkAutomationFile(value)
    return []
  } catch (error) {
    assert.ok(error instanceof InvalidFileError)
    return error.problems.map(({ path, message }) => `${path}: ${message}`)
  }
}

/** The definition of decision D6. */
const decided = {
  entry: 'first_call',
  steps: {
    first_call: call('route', {
      retry: {
        max_attempts: 3,
        delays: ['PT30M', 'PT4H'],
        on: ['no_answer', 'busy', 'voicemail'],
      },
    }),
    route: {
      type: 'branch',
      cases: [
        { when: { outcome: ['achieved'] }, next: 'done' },
        {
          when: { answer_status: ['no_answer', 'busy', 'voicemail'], 'contact.country': ['US'] },
          next: 'cool_off',
        },
      ],
      otherwise: 'done',
    },
    cool_off: { type: 'wait', for: 'P1D', until_local_time: '10:00', next: 'first_call' },
    done: end,
  },
}

test('the definition of decision D6 is accepted unchanged', () => {
  const checked = checkAutomationFile({ name: ' N ', definition: decided })
  assert.equal(checked.name, 'N')
  assert.deepEqual(checked.definition, decided)
  assert.deepEqual(readDefinition(JSON.parse(JSON.stringify(decided))), decided)
})

test('the example of the documentation is accepted', () => {
  const path = join(import.meta.dirname, '../../../docs/examples/appointment-follow-up.json')
  assert.deepEqual(problems(JSON.parse(readFileSync(path, 'utf8'))), [])
})

const retry = (parts: object) => ({
  first: call('done', { retry: { max_attempts: 2, delays: ['PT1M'], on: ['busy'], ...parts } }),
  done: end,
})

/** Steps, and the path of the error with a word of its sentence. */
const refusals: Record<string, [steps: object, ...blamed: [path: string, word: RegExp][]]> = {
  'a missing next': [{ first: { type: 'call', agent_id: 'a' } }, ['first.next', /required/]],
  'a missing agent': [
    { first: { type: 'call', next: 'done' }, done: end },
    ['first.agent_id', /required/],
  ],
  'a next that leads nowhere': [{ first: call('gone') }, ['first.next', /no step "gone"/]],
  'a case that leads nowhere': [
    { first: branch('gone', 'done'), done: end },
    ['first.cases[0].next', /no step/],
  ],
  'an otherwise that leads nowhere': [
    { first: branch('done', 'gone'), done: end },
    ['first.otherwise', /no step/],
  ],
  'a missing otherwise': [
    { first: { type: 'branch', cases: [{ when: { outcome: ['x'] }, next: 'done' }] }, done: end },
    ['first.otherwise', /required/],
  ],
  'an unreachable step': [{ first: end, other: end }, ['other', /No way leads/]],
  'a loop without a wait': [
    { first: call('back'), back: branch('first', 'done'), done: end },
    ['first', /no wait/],
  ],
  'a step that leads to itself': [
    { first: call('first') },
    ['first', /no wait: "first" → "first"/],
  ],
  'a loop of its own beside a good one': [
    { first: wait('b'), b: branch('c', 'first'), c: branch('b', 'done'), done: end },
    ['b', /"b" → "c" → "b"/],
  ],
  'an unknown type': [{ first: { type: 'jump' } }, ['first.type', /one of "call"/]],
  'an unknown member': [{ first: call('done', { nxt: 1 }), done: end }, ['first.nxt', /no member/]],
  'a bad duration': [
    { first: wait('done', { for: '1 day' }), done: end },
    ['first.for', /ISO 8601/],
  ],
  'a wait of nothing': [{ first: wait('done', {}), done: end }, ['first.for', /needs/]],
  'a wait that is too long': [
    { first: wait('done', { for: 'P91D' }), done: end },
    ['first.for', /90 days/],
  ],
  'a bad local time': [
    { first: wait('done', { until_local_time: '24:00' }), done: end },
    ['first.until_local_time', /00:00 to 23:59/],
  ],
  'no attempt': [retry({ max_attempts: 0 }), ['first.retry.max_attempts', /at least 1/]],
  'attempts without a delay': [retry({ delays: [] }), ['first.retry.delays', /at least 1/]],
  'a bad delay': [retry({ delays: ['PT1M', 'soon'] }), ['first.retry.delays[1]', /ISO 8601/]],
  'a retry on no answer status': [retry({ on: [] }), ['first.retry.on', /at least 1/]],
  'a retry on an unknown one': [
    retry({ on: ['angry'] }),
    ['first.retry.on[0]', /one of "answered"/],
  ],
  'an empty when': [
    { first: branch('done', 'done', {}), done: end },
    ['first.cases[0].when', /at least 1/],
  ],
  'a when of an unknown field': [
    { first: branch('done', 'done', { 'contact.age': ['7'] }), done: end },
    ['first.cases[0].when.contact.age', /no member/],
  ],
  'a failure code of a completed end': [
    { first: { ...end, failure_code: 'call_failed' } },
    ['first.failure_code', /Only a failed end/],
  ],
  'an unknown failure code': [
    { first: { type: 'end', result: 'failed', failure_code: 'boredom' } },
    ['first.failure_code', /one of/],
  ],
  'a bad name': [{ first: end, '1st': end }, ['1st', /begins with a letter/]],
  'no step': [{}, ['', /at least 1 step/]],
  'a wait too long for any calendar': [
    { first: wait('done', { for: 'PT9007199254740991S' }), done: end },
    ['first.for', /90 days/],
  ],
  'no agent': [
    { first: { type: 'call', agent_id: '', next: 'done' }, done: end },
    ['first.agent_id', /at least 1 character/],
  ],
  'a name that objects keep to themselves': [
    JSON.parse('{"first": {"type": "end", "result": "completed"}, "__proto__": {}}') as object,
    ['__proto__', /begins with a letter/],
  ],
  'a way to what every object has': [
    { first: call('constructor') },
    ['first.next', /no step "constructor"/],
  ],
  'everything at once': [
    {
      first: call('gone', { retry: { max_attempts: 2, delays: ['soon'], on: ['busy'] } }),
      lonely: wait('done', { for: 'P1' }),
      around: branch('around', 'done'),
      back: call('around', { nxt: 1 }),
      done: end,
    },
    ['first.retry.delays[0]', /ISO 8601/],
    ['lonely.for', /ISO 8601/],
    ['back.nxt', /no member/],
    ['first.next', /no step "gone"/],
    ['lonely', /No way leads/],
    ['around', /No way leads/],
    ['back', /No way leads/],
    ['done', /No way leads/],
    ['around', /no wait/],
  ],
  'a loop beside an unreadable step': [
    { first: branch('again', 'off'), again: call('first'), off: { type: 'call', agent_id: 'a' } },
    ['off.next', /required/],
    ['first', /no wait: "first" → "again" → "first"/],
  ],
}

for (const [name, [steps, ...blamed]] of Object.entries(refusals)) {
  test(`${name} is refused with its path and a sentence`, () => {
    const found = problems(file(steps))
    assert.equal(found.length, blamed.length, found.join('\n'))
    for (const [at, [path, word]] of blamed.entries()) {
      const where = `definition.steps${path === '' ? '' : `.${path}`}: `
      assert.ok(found[at]?.startsWith(where), found[at])
      assert.match(found[at] ?? '', word)
    }
  })
}

test('a malformed entry is refused', () => {
  assert.deepEqual(problems(file({ first: end }, 'other')), [
    'definition.entry: There is no step "other".',
  ])
})

test('a step that waits breaks a loop, anywhere in it', () => {
  for (const steps of [
    { first: call('rest'), rest: wait('first') },
    { first: wait('again'), again: branch('first', 'done'), done: end },
  ])
    assert.deepEqual(problems(file(steps)), [])
})

const chain = (length: number): object =>
  Object.fromEntries(
    Array.from({ length }, (_, at) => [
      at === 0 ? 'first' : `s${at}`,
      at === length - 1 ? end : wait(`s${at + 1}`),
    ]),
  )

test('100 steps, 20 cases and 64 KiB are accepted, one more is not', () => {
  assert.deepEqual(problems(file(chain(100))), [])
  assert.match(problems(file(chain(101))).join(), /at most 100 steps/)
  const cases = (count: number) => ({
    first: {
      type: 'branch',
      cases: Array.from({ length: count }, () => ({ when: { outcome: ['x'] }, next: 'done' })),
      otherwise: 'done',
    },
    done: end,
  })
  assert.deepEqual(problems(file(cases(20))), [])
  assert.match(problems(file(cases(21))).join(), /first\.cases: It must have at most 20 items/)
  const values = (length: number) =>
    branch('done', 'done', {
      'contact.city': Array.from({ length: 100 }, (_, at) => `${at}`.padEnd(length, 'x')),
      'contact.name': Array.from({ length: 100 }, (_, at) => `${at}`.padEnd(length, 'x')),
    })
  assert.deepEqual(problems(file({ first: values(300), done: end })), [])
  assert.deepEqual(problems(file({ first: values(400), done: end })), [
    'definition: It must be at most 64 KiB.',
  ])
})

test('every problem is reported at once', () => {
  assert.equal(
    problems({ name: '', extra: 1, definition: { entry: 'x', steps: { a: 3 } } }).length,
    4,
  )
  assert.deepEqual(problems(7), [': It must be an object.'])
})

test('the drawing shows every step and every exit', () => {
  const drawing = drawDefinition(checkAutomationFile({ name: 'N', definition: decided }).definition)
  assert.equal(
    drawing,
    [
      'flowchart TD',
      '  start(( )) --> s1',
      '  s1["first_call<br/>call, up to 3 attempts"]',
      '  s1 --> s2',
      '  s2{"route"}',
      '  s2 -->|"1. outcome: achieved"| s3',
      '  s2 -->|"2. answer_status: no_answer or busy or voicemail, contact.country: US"| s4',
      '  s2 -->|"otherwise"| s3',
      '  s3(["done<br/>completed"])',
      '  s4[/"cool_off<br/>wait P1D, until 10:00"/]',
      '  s4 --> s1',
    ].join('\n'),
  )
})
