import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { canOpenTogether } from './open-together.ts'
import { weekdays, type WeeklyWindow } from './weekly-window.ts'

const daily = (startTime: string, endTime: string): WeeklyWindow[] => [
  { weekdays, startTime, endTime },
]

describe('zones open together', () => {
  it('only if the windows overlap across the week', () => {
    const coasts = ['America/New_York', 'America/Los_Angeles']
    assert.equal(canOpenTogether(coasts, daily('09:00', '12:01')), true)
    assert.equal(canOpenTogether(coasts, daily('09:00', '12:00')), false)
  })

  it('across midnight and the end of the week', () => {
    const dateLine: WeeklyWindow[] = [
      { weekdays: ['sunday'], startTime: '20:00', endTime: '24:00' },
      { weekdays: ['monday'], startTime: '00:00', endTime: '04:00' },
    ]
    assert.equal(canOpenTogether(['Asia/Tokyo', 'Asia/Shanghai'], dateLine), true)
    const [sunday] = dateLine
    assert.ok(sunday)
    assert.equal(canOpenTogether(['Asia/Tokyo', 'Pacific/Honolulu'], [sunday]), false)
  })

  it('in the half of the year in which their clocks allow it', () => {
    // Two hours apart in winter, three in summer, when New York moves its clocks and Bogotá does not.
    const zones = ['America/Bogota', 'Europe/London']
    assert.equal(canOpenTogether(zones, daily('09:00', '14:30')), true)
    assert.equal(canOpenTogether(zones, daily('09:00', '14:00')), false)
  })
})
