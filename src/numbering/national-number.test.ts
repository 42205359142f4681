import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isNumberedCountry, toE164 } from './national-number.ts'

for (const [text, country, expected] of [
  ['(202) 555-0100', 'US', '+12025550100'],
  ['1 202 555 0100', 'US', '+12025550100'],
  ['011 44 20 7946 0958', 'US', '+442079460958'],
  ['+1 (202) 555-0100', 'DE', '+12025550100'],
  ['030 901820', 'DE', '+4930901820'],
  ['0049 30 901820', 'DE', '+4930901820'],
  ['06 12 34 56 78', 'FR', '+33612345678'],
  ['6 12345678', 'IT', '+39612345678'],
] as const)
  test(`${text} of ${country} is ${expected}`, () => {
    assert.equal(toE164(text, country), expected)
  })

for (const text of [
  '',
  'call me',
  '12',
  '202-555-0100 ext. 5',
  'call 202-555-0100',
  '+',
  '9'.repeat(61),
])
  test(`${JSON.stringify(text.slice(0, 20))} is no number`, () => {
    assert.equal(toE164(text, 'US'), undefined)
  })

test('countries are those of ISO 3166 that have numbers', () => {
  assert.deepEqual(['US', 'DE', 'us', 'XX', ''].map(isNumberedCountry), [
    true,
    true,
    false,
    false,
    false,
  ])
})
