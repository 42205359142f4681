import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defaultPolicy, sandboxPolicy } from '../organizations/calling-policy.ts'
import { expectedEndMs } from './expected-end.ts'
import { previewWindow } from './preview-window.ts'

const minute = 60_000
/** A Friday, 20:00 in New York. */
const now = Date.parse('2026-07-18T00:00:00Z')

const endOf = (members: Partial<Parameters<typeof expectedEndMs>[0]>) => {
  const ms = expectedEndMs(
    {
      pace: { ended: 10, sinceMs: now - 10 * minute },
      remaining: 30,
      lanes: [undefined],
      policy: sandboxPolicy,
      callingWindow: undefined,
      ...members,
    },
    now,
  )
  return ms === undefined ? undefined : new Date(ms).toISOString()
}

describe('the expected end of a batch', () => {
  it('follows from the pace', () => {
    assert.equal(endOf({}), '2026-07-18T00:30:00.000Z')
    assert.equal(endOf({ remaining: 0 }), '2026-07-18T00:00:00.000Z')
  })

  it('is unknown before the first end, and beyond the next nine days', () => {
    assert.equal(endOf({ pace: { ended: 0, sinceMs: now - minute } }), undefined)
    assert.equal(endOf({ remaining: 20_000 }), undefined)
  })

  it('passes over the night: an hour is left today, the rest comes tomorrow from 08:00', () => {
    const policy = defaultPolicy
    assert.equal(endOf({ policy, remaining: 90 }), '2026-07-18T12:30:00.000Z')
  })

  it('goes on where another lane is still open', () => {
    const lanes = [['America/New_York'], ['America/Los_Angeles']]
    assert.equal(endOf({ policy: defaultPolicy, lanes, remaining: 90 }), '2026-07-18T01:30:00.000Z')
  })

  it('counts no hour in which nobody could be called', () => {
    // Since 10:00 of the day before: 11 open hours then, 12 today.
    const pace = { ended: 23, sinceMs: Date.parse('2026-07-16T14:00:00Z') }
    assert.equal(endOf({ policy: defaultPolicy, pace, remaining: 1 }), '2026-07-18T01:00:00.000Z')
  })
})

describe('the preview of a window', () => {
  const window = {
    time_zone: 'America/New_York',
    weekdays: ['saturday'] as const,
    start_time: '06:00',
    end_time: '12:00',
  }

  it('shows the overlap with the policy in each callee’s zone, most recipients first', () => {
    const zones = previewWindow(
      ['+12025550100', '+12025550101', '+12135550100', '+18005550100'],
      defaultPolicy,
      { ...window, weekdays: [...window.weekdays] },
      new Date(now),
    )
    assert.deepEqual(zones, [
      {
        time_zones: ['America/New_York'],
        recipients: 2,
        openings: [{ start: '2026-07-18T12:00:00.000Z', end: '2026-07-18T16:00:00.000Z' }],
      },
      {
        time_zones: ['America/Los_Angeles'],
        recipients: 1,
        openings: [{ start: '2026-07-18T15:00:00.000Z', end: '2026-07-18T16:00:00.000Z' }],
      },
      {
        time_zones: [],
        recipients: 1,
        openings: [{ start: '2026-07-18T12:00:00.000Z', end: '2026-07-18T16:00:00.000Z' }],
      },
    ])
  })
})
