import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchInput } from './batches.ts'
import { readRuleMessage } from './field-rules.ts'

const recipient = { external_id: 'a', name: 'Ada', phone_number: '+12025550100' }
const window = {
  time_zone: 'America/New_York',
  weekdays: ['monday'],
  start_time: '09:00',
  end_time: '17:00',
}
const body = { name: 'Batch', agent_id: 'agent', recipients: [recipient] }
const others = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...recipient,
    external_id: `x${index}`,
    phone_number: `+1202${String(5_000_000 + index)}`,
  }))

/** `path code` of every issue; the HTTP kernel's own test covers codes that follow from Zod's kinds of issue. */
const blamed = (input: unknown): string[] => {
  const result = batchInput.safeParse(input)
  if (result.success) return []
  return result.error.issues.map(
    ({ path, message }) => `${path.join('.')} ${readRuleMessage(message)?.code ?? message}`,
  )
}

const accepted: readonly [string, object][] = [
  ['one inline recipient', body],
  ['1,000 recipients', { ...body, recipients: others(1000) }],
  ['known contacts', { name: 'Batch', agent_id: 'agent', contact_ids: ['a', 'b'] }],
  ['a window until midnight', { ...body, calling_window: { ...window, end_time: '24:00' } }],
  [
    'one identity in two namespaces',
    {
      ...body,
      recipients: [recipient, { ...recipient, source: 'crm', phone_number: '+12025550101' }],
    },
  ],
]
for (const [what, input] of accepted)
  test(`a batch of ${what} is accepted`, () => assert.deepEqual(blamed(input), []))

const refused: readonly [string, object, string | RegExp][] = [
  ['without recipients', { name: 'x', agent_id: 'a' }, 'contact_ids required'],
  ['with both forms', { ...body, contact_ids: ['a'] }, 'recipients mutually_exclusive'],
  ['with no item', { ...body, recipients: [] }, /^recipients Too small/],
  ['with 1,001 items', { ...body, recipients: others(1001) }, /^recipients Too big/],
  ['with a blank name', { ...body, name: ' \u00a0 ' }, /^name Too small/],
  ['with a name of 201 characters', { ...body, name: 'x'.repeat(201) }, /^name Too big/],
  [
    'that repeats a contact, blanks aside',
    { name: 'x', agent_id: 'a', contact_ids: ['a', 'b', ' a '] },
    'contact_ids.2 duplicate_item',
  ],
  [
    'that repeats a phone number',
    { ...body, recipients: [...others(7), recipient, { ...recipient, external_id: 'z' }] },
    'recipients.8.phone_number duplicate_item',
  ],
  [
    'that repeats an identity',
    { ...body, recipients: [recipient, { ...recipient, phone_number: '+12025550101' }] },
    'recipients.1.external_id duplicate_item',
  ],
  [
    'whose default source makes one identity of two',
    {
      ...body,
      recipients: [recipient, { ...recipient, source: 'public_api', phone_number: '+12025550101' }],
    },
    'recipients.1.external_id duplicate_item',
  ],
  [
    'with a number that is no E.164',
    { ...body, recipients: [{ ...recipient, phone_number: '202-555-0100' }] },
    'recipients.0.phone_number invalid_e164',
  ],
  [
    'with an unknown member of a recipient',
    { ...body, recipients: [{ ...recipient, age: 3 }] },
    /^recipients.0 Unrecognized key/,
  ],
  [
    'with a time that is none',
    { ...body, scheduled_start_at: 'soon' },
    'scheduled_start_at invalid_date_time',
  ],
]
for (const [what, input, expected] of refused)
  test(`a batch ${what} is refused`, () => {
    const [problem, ...more] = blamed(input)
    assert.deepEqual(more, [])
    if (typeof expected === 'string') assert.equal(problem, expected)
    else assert.match(problem ?? '', expected)
  })

const badWindows: readonly [string, object, string | RegExp][] = [
  [
    'of an unknown zone',
    { time_zone: 'Mars/Olympus' },
    'calling_window.time_zone invalid_time_zone',
  ],
  ['of an offset', { time_zone: '+02:00' }, 'calling_window.time_zone invalid_time_zone'],
  ['of an abbreviation', { time_zone: 'EST' }, 'calling_window.time_zone invalid_time_zone'],
  ['without a day', { weekdays: [] }, /^calling_window.weekdays Too small/],
  [
    'with a day twice',
    { weekdays: ['monday', 'monday'] },
    'calling_window.weekdays.1 duplicate_item',
  ],
  ['with a day in capitals', { weekdays: ['Monday'] }, /^calling_window.weekdays.0 Invalid option/],
  [
    'that begins at 24:00',
    { start_time: '24:00', end_time: '24:00' },
    /^calling_window.start_time /,
  ],
  ['that ends after 24:00', { end_time: '24:01' }, /^calling_window.end_time /],
  ['without leading zero', { start_time: '9:00' }, /^calling_window.start_time /],
  ['that ends as it begins', { end_time: '09:00' }, 'calling_window.end_time invalid_range'],
  [
    'over midnight',
    { start_time: '22:00', end_time: '06:00' },
    'calling_window.end_time invalid_range',
  ],
]
for (const [what, change, expected] of badWindows)
  test(`a window ${what} is refused`, () => {
    const [problem, ...more] = blamed({ ...body, calling_window: { ...window, ...change } })
    assert.deepEqual(more, [])
    if (typeof expected === 'string') assert.equal(problem, expected)
    else assert.match(problem ?? '', expected)
  })

test('each of the four members of a window is required', () => {
  for (const member of Object.keys(window)) {
    const { [member as keyof typeof window]: _left, ...rest } = window
    assert.ok(!batchInput.safeParse({ ...body, calling_window: rest }).success, member)
  }
})

test('one response names every problem, in every item', () => {
  const input = {
    ...body,
    name: '',
    recipients: [recipient, { ...recipient, name: '' }, null],
    calling_window: { ...window, time_zone: 'x', end_time: '08:00' },
  }
  const paths = blamed(input).map((problem) => problem.split(' ')[0])
  assert.deepEqual(
    new Set(paths),
    new Set([
      'calling_window.end_time',
      'calling_window.time_zone',
      'name',
      'recipients.1.external_id',
      'recipients.1.name',
      'recipients.1.phone_number',
      'recipients.2',
    ]),
  )
})
