import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../tests/support/properties.ts'
import { formatDateTime, parseDateTime } from './date-time.ts'

test('one instant in any offset becomes one text', () => {
  const same = [
    '2026-07-16T08:00:00Z',
    '2026-07-16t08:00:00.000z',
    '2026-07-16T10:00:00+02:00',
    '2026-07-16T08:00:00-00:00',
    '2026-07-15T08:01:00.0000000-23:59',
  ]
  for (const text of same) assert.equal(parseDateTime(text), '2026-07-16T08:00:00.000000Z')
})

test('microseconds stay, finer digits are cut', () => {
  assert.equal(parseDateTime('2026-01-01T00:00:00.123456789012Z'), '2026-01-01T00:00:00.123456Z')
})

test('years are read back to the first one, and years out of range are clamped', () => {
  const read = [
    ['1969-12-31T23:59:59Z', '1969-12-31T23:59:59.000000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000Z'],
    ['0099-02-28T00:00:00.5+01:00', '0099-02-27T23:00:00.500000Z'],
    ['0001-01-01T00:00:00+00:01', '0001-01-01T00:00:00.000000Z'],
    ['0000-02-29T12:00:00Z', '0001-01-01T00:00:00.000000Z'],
    ['9999-12-31T23:59:59.9999999Z', '9999-12-31T23:59:59.999999Z'],
    ['9999-12-31T23:59:59-00:01', '9999-12-31T23:59:59.999999Z'],
  ] as const
  for (const [text, instant] of read) assert.equal(parseDateTime(text), instant, text)
})

test('a leap second is accepted where there can be one', () => {
  const after = '2017-01-01T00:00:00.000000Z'
  assert.equal(parseDateTime('2016-12-31T23:59:60Z'), after)
  assert.equal(parseDateTime('2016-12-31T15:59:60-08:00'), after)
  assert.equal(parseDateTime('2016-12-31T23:59:60.25Z'), '2017-01-01T00:00:00.250000Z')
  for (const text of ['2016-12-30T23:59:60Z', '2016-12-31T23:58:60Z', '2016-12-31T23:59:60+01:00'])
    assert.equal(parseDateTime(text), undefined, text)
})

test('text that is no instant is refused', () => {
  const refused = [
    '',
    '2026-07-16',
    '2026-07-16T08:00Z',
    '2026-07-16T08:00:00',
    '2026-07-16 08:00:00Z',
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '0001-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T23:60:00Z',
    '2026-01-01T23:59:60Z',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00+00:60',
    '2026-01-01T00:00:00+0000',
    '+02026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z ',
  ]
  for (const text of refused) assert.equal(parseDateTime(text), undefined, text)
})

test('every instant that we write can be read back', () => {
  const instants = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })
  fc.assert(
    fc.property(instants, (instant) => {
      const text = formatDateTime(instant)
      assert.equal(parseDateTime(text), text.replace('Z', '000Z'))
    }),
  )
})
