import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { rankNumbers, type CallerNumber } from './rank-numbers.ts'

const number = (phoneNumber: string, more: Partial<CallerNumber> = {}): CallerNumber => ({
  phone_number: phoneNumber,
  country: phoneNumber.startsWith('+1') ? 'US' : 'GB',
  trunk: null,
  calls_per_day: null,
  calls_today: 0,
  is_resting: false,
  rests_until_ms: null,
  ...more,
})

const dayEndMs = 86_400_000

const rank = (
  numbers: readonly CallerNumber[],
  more: Partial<Parameters<typeof rankNumbers>[0]> = {},
) => rankNumbers({ callee: '+12125550100', country: 'US', numbers, dayEndMs, ...more })

const order = (...given: Parameters<typeof rank>): readonly string[] => {
  const ranked = rank(...given)
  assert.equal(ranked.kind, 'usable')
  return ranked.kind === 'usable' ? ranked.numbers.map(({ phoneNumber }) => phoneNumber) : []
}

describe('the order of numbers', () => {
  const london = number('+442071234567')
  const chicago = number('+13125550188', { calls_today: 1 })
  const boston = number('+16175550188')
  const newYork = number('+12125550188', { calls_today: 9 })

  it('goes by country, by what they have in common with the callee, and by their calls today', () => {
    assert.deepEqual(order([london, chicago, boston, newYork]), [
      newYork.phone_number,
      boston.phone_number,
      chicago.phone_number,
      london.phone_number,
    ])
  })

  it('prefers no country where the callee has none', () => {
    assert.deepEqual(order([boston, london], { callee: '+88213000000', country: null }), [
      boston.phone_number,
      london.phone_number,
    ])
  })

  it('begins with the number that the callee knows, while it may be used', () => {
    const kept = london.phone_number
    assert.equal(order([newYork, london], { kept })[0], kept)
    const tired = { ...london, is_resting: true }
    assert.deepEqual(order([newYork, tired], { kept }), [newYork.phone_number])
    assert.equal(order([newYork], { kept })[0], newYork.phone_number)
  })

  it('leaves out numbers that made their calls of the day, but not the one that this call is counted for', () => {
    const full = number('+12125550199', { calls_per_day: 3, calls_today: 3 })
    assert.deepEqual(order([full, boston]), [boston.phone_number])
    assert.equal(order([full, boston], { paid: full.phone_number })[0], full.phone_number)
  })

  it('keeps to the numbers of the agent', () => {
    assert.deepEqual(order([newYork, boston], { allowed: [boston.phone_number] }), [
      boston.phone_number,
    ])
    const none = rank([newYork], { allowed: ['+13125550000'] })
    assert.ok(none.kind === 'wait' && none.code === 'no_caller_id')
    const removed = rank([], { allowed: ['+13125550000'] })
    assert.ok(removed.kind === 'wait' && removed.code === 'no_caller_id')
  })

  it('leaves it to the installation where the organization has none', () => {
    assert.deepEqual(rank([]), { kind: 'none' })
  })

  it('waits for the next day, or for the end of a rest that comes sooner', () => {
    const full = number('+12125550199', { calls_per_day: 1, calls_today: 1 })
    const resting = number('+12125550198', { is_resting: true, rests_until_ms: 5_000 })
    const still = number('+12125550197', { is_resting: true })
    const waitOf = (...numbers: CallerNumber[]) => {
      const ranked = rank(numbers)
      assert.equal(ranked.kind, 'wait')
      return ranked.kind === 'wait' ? [ranked.code, ranked.untilMs] : []
    }
    assert.deepEqual(waitOf(full), ['caller_ids_exhausted', dayEndMs])
    assert.deepEqual(waitOf(full, still), ['caller_ids_exhausted', dayEndMs])
    assert.deepEqual(waitOf(full, resting), ['caller_ids_exhausted', 5_000])
    assert.deepEqual(waitOf(resting, still), ['caller_ids_resting', 5_000])
    assert.deepEqual(waitOf(still), ['caller_ids_resting', undefined])
  })
})
