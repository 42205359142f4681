import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mosOf, qualityOf } from './call-quality.ts'
import type { RtpStats } from './rtp-session-types.ts'

const stats: RtpStats = {
  packetsSent: 1000,
  packetsReceived: 990,
  packetsLost: 10,
  packetsLate: 3,
  packetsDuplicate: 0,
  packetsReordered: 0,
  packetsForeign: 0,
  packetsMalformed: 0,
  packetsUnauthentic: 0,
  framesConcealed: 12,
  resyncs: 0,
  sendErrors: 0,
  jitterMs: 4,
  playoutDelayMs: 20,
  silentForMs: 0,
  withoutAudioMs: 0,
}

test('the E-model has its published figures for G.711', () => {
  assert.ok(Math.abs(mosOf(0, 0) - 4.41) < 0.01)
  assert.ok(Math.abs(mosOf(0, 150) - 4.34) < 0.02)
  assert.ok(mosOf(0.1, 50) < 3.5 && mosOf(0.1, 50) > 3.1)
  assert.ok(mosOf(0, 500) < mosOf(0, 200))
  for (const [loss, delay] of [
    [1, 0],
    [0.5, 10_000],
    [-1, -5],
  ] as const) {
    const mos = mosOf(loss, delay)
    assert.ok(mos >= 1 && mos <= 4.5, `${loss} ${delay}: ${mos}`)
  }
})

test('both directions have what is known of them', () => {
  const [from, to] = qualityOf({
    ...stats,
    reported: { fractionLost: 0, packetsLost: -2, jitterMs: 7, roundTripMs: 80 },
  })
  assert.deepEqual(
    [from?.packetsLost, from?.packetsLate, from?.concealed, from?.roundTripMs],
    [10, 3, 12, 80],
  )
  assert.deepEqual([to?.packets, to?.packetsLost, to?.jitterMs], [1000, 0, 7])
  assert.ok((to?.mos ?? 0) > 4.3 && (from?.mos ?? 5) < 4.3)
})

test('a side that reports nothing has no opinion, and neither has one that sent nothing', () => {
  const [from, to] = qualityOf({ ...stats, packetsReceived: 0, packetsLost: 0 })
  assert.equal(from?.mos, undefined)
  assert.deepEqual(to, { direction: 'to_callee', packets: 1000 })
})
