import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createManualTime } from '../../tests/support/manual-time.ts'
import { createRtcpReporter } from './rtcp-reporter.ts'
import { compactNtp, ntpTime, serializeRtcp } from './rtcp.ts'

const ssrc = 7
const second = 65_536

/**
 * The round trip of a report that the other side acknowledges `elapsed` after it was sent, in 1/65536 s, having
 * held it for `held`.
 */
const roundTripMs = (elapsed: number, held: number): number | undefined => {
  const clock = createManualTime(new Date('2026-01-01T00:00:00Z'))
  const outgoing = { ssrc } as Parameters<typeof createRtcpReporter>[0]
  const incoming = {} as Parameters<typeof createRtcpReporter>[1]
  const reporter = createRtcpReporter(outgoing, incoming, 'cname', clock)
  const report = {
    ssrc,
    fractionLost: 0,
    packetsLost: 0,
    highestSequence: 1,
    jitter: 0,
    lastSenderReport: compactNtp(ntpTime(clock.now())) - elapsed,
    delaySinceLastSenderReport: held,
  }
  reporter.accept(serializeRtcp([{ type: 'receiver_report', ssrc: 9, reports: [report] }]))
  return reporter.feedback?.roundTripMs
}

describe('the round trip', () => {
  it('is the time since our report minus the time it was held', () => {
    assert.equal(roundTripMs(2 * second, 1.5 * second), 500)
  })

  it('is zero if the clock is too coarse to measure it', () => {
    assert.equal(roundTripMs(second, second + 1), 0)
    assert.equal(roundTripMs(second, second + 66), 0)
  })

  it('is unknown where the figures contradict each other', () => {
    assert.equal(roundTripMs(second, 2 * second), undefined)
    assert.equal(roundTripMs(61 * second, 0), undefined)
  })
})
