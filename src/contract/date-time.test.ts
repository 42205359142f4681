import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatDateTime, parseDateTime } from './date-time.ts'

test('one instant in any offset is one text', () => {
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
  assert.equal(parseDateTime('2026-01-01T00:00:00.123456789Z'), '2026-01-01T00:00:00.123456Z')
})

test('what is no instant of 1970 to 9999 is refused', () => {
  const refused = [
    '',
    '2026-07-16',
    '2026-07-16T08:00Z',
    '2026-07-16T08:00:00',
    '2026-07-16 08:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T23:60:00Z',
    '2026-01-01T23:59:60Z',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00.1234567890Z',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00+00:60',
    '2026-01-01T00:00:00+0000',
    '1969-12-31T23:59:59Z',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59-00:01',
    '+02026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z ',
  ]
  for (const text of refused) assert.equal(parseDateTime(text), undefined, text)
})

test('every instant of ours can be read back', () => {
  const instants = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })
  fc.assert(
    fc.property(instants, (instant) => {
      const text = formatDateTime(instant)
      assert.equal(parseDateTime(text), text.replace('Z', '000Z'))
    }),
  )
})
