import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withLocalTime } from './local-time.ts'

const formatIn = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-GB', {
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    timeZone,
    timeZoneName: 'short',
  })

test('an instant is followed by the local time, unless that is the same', () => {
  const instant = '2026-11-22T23:30:00.000Z'
  assert.equal(withLocalTime(instant, formatIn('UTC')), instant)
  assert.equal(withLocalTime(instant, formatIn('Asia/Tokyo')), `${instant} (Mon 08:30 GMT+9)`)
})
