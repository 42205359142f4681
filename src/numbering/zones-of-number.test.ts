import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { zonesOfNumber } from './zones-of-number.ts'

describe('the time zones of a number', () => {
  it('are one if the prefix determines it', () => {
    assert.deepEqual(zonesOfNumber('+12025550100'), ['America/New_York'])
    assert.deepEqual(zonesOfNumber('+13125550100'), ['America/Chicago'])
    assert.deepEqual(zonesOfNumber('+18765550100'), ['America/Jamaica'])
    assert.deepEqual(zonesOfNumber('+442079460018'), ['Europe/London'])
    assert.deepEqual(zonesOfNumber('+919876543210'), ['Asia/Calcutta'])
  })

  it('are all possible zones, sorted', () => {
    assert.deepEqual(zonesOfNumber('+447700900123')?.slice(0, 2), [
      'Europe/Guernsey',
      'Europe/Isle_of_Man',
    ])
    const mobileOfRussia = zonesOfNumber('+79161234567')
    assert.ok(mobileOfRussia?.includes('Europe/Moscow'))
    assert.deepEqual(mobileOfRussia, mobileOfRussia?.toSorted())
  })

  it('are unknown for toll-free and for international service numbers', () => {
    assert.equal(zonesOfNumber('+18005551234'), undefined)
    assert.equal(zonesOfNumber('+80012345678'), undefined)
    assert.equal(zonesOfNumber('+881612345678'), undefined)
  })
})
