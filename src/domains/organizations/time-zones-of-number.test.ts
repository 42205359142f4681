import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defaultPolicy, sandboxPolicy, type WeeklyWindow } from './calling-policy.ts'
import { canOpenTogether } from './open-together.ts'
import { timeZonesOfNumber } from './time-zones-of-number.ts'

const daily = (startTime: string, endTime: string): WeeklyWindow[] => [
  { weekdays: defaultPolicy.windows[0]?.weekdays ?? [], startTime, endTime },
]

describe('the time zones of a number', () => {
  const zones = (number: string, windows = defaultPolicy.windows) =>
    timeZonesOfNumber(number, windows)

  it('are one where the prefix decides', () => {
    assert.deepEqual(zones('+12025550100'), ['America/New_York'])
    assert.deepEqual(zones('+13125550100'), ['America/Chicago'])
    assert.deepEqual(zones('+18765550100'), ['America/Jamaica'])
    assert.deepEqual(zones('+442079460018'), ['Europe/London'])
    assert.deepEqual(zones('+919876543210'), ['Asia/Calcutta'])
  })

  it('are all that are possible, sorted', () => {
    assert.deepEqual(zones('+447700900123')?.slice(0, 2), ['Europe/Guernsey', 'Europe/Isle_of_Man'])
    const mobileOfRussia = zones('+79161234567')
    assert.ok(mobileOfRussia?.includes('Europe/Moscow'))
    assert.deepEqual(mobileOfRussia, mobileOfRussia?.toSorted())
  })

  it('are unknown for toll-free and for international service numbers', () => {
    assert.equal(zones('+18005551234'), undefined)
    assert.equal(zones('+80012345678'), undefined)
    assert.equal(zones('+881612345678'), undefined)
  })

  it('are unknown where they could never be open together', () => {
    const anywhereInNorthAmerica = '+15551234567'
    assert.ok((zones(anywhereInNorthAmerica)?.length ?? 0) > 20)
    assert.equal(zones(anywhereInNorthAmerica, daily('09:00', '17:00')), undefined)
    assert.ok(zones(anywhereInNorthAmerica, sandboxPolicy.windows))
  })
})

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
