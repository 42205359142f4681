import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { judgeNumber } from './judge-number.ts'

const judge = (
  [calls, answered, declined = 0, rejected = 0]: readonly number[],
  [callsBefore = 0, answeredBefore = 0]: readonly number[] = [],
): string | undefined =>
  judgeNumber({
    recent: { calls: calls ?? 0, answered: answered ?? 0, declined, rejected },
    before: { calls: callsBefore, answered: answeredBefore },
  })

describe('a number', () => {
  it('is flagged by two refusals as unwanted, and not by one', () => {
    assert.equal(judge([100, 40, 0, 1]), undefined)
    assert.match(judge([100, 40, 0, 2]) ?? '', /refused 2 of its last 100 calls/)
  })

  it('is flagged by a third of declined calls, and not by what people decline', () => {
    assert.equal(judge([9, 0, 9]), undefined, 'too few')
    assert.equal(judge([100, 40, 33]), undefined)
    assert.match(judge([100, 40, 34]) ?? '', /34 of its last 100 calls were declined/)
  })

  it('is flagged where fewer than half as many people answer as in the week before', () => {
    assert.match(judge([60, 6], [700, 280]) ?? '', /10 % of its last 60 .* 40 % in the week before/)
    assert.equal(judge([60, 15], [700, 280]), undefined, 'it fell less')
    assert.equal(judge([49, 0], [700, 280]), undefined, 'too few calls')
    assert.equal(judge([60, 0], [99, 40]), undefined, 'too few before')
    assert.equal(judge([60, 1], [700, 35]), undefined, 'it may be chance')
    assert.equal(judge([0, 0]), undefined)
  })
})
