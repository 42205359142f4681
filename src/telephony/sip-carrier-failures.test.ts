import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyBody, type Header, type SipResponse } from '../sip/message/message.ts'
import type { DialFailureCause } from './carrier.ts'
import { failedDial } from './sip-carrier-failures.ts'

const response = (
  status: number,
  reason: string,
  headers: readonly Header[] = [],
): SipResponse => ({
  kind: 'response',
  status,
  reason,
  headers,
  body: emptyBody,
})

const refusal = (status: number, rang = false, headers: readonly Header[] = []) =>
  failedDial({ kind: 'refused', response: response(status, '', headers), rang }, 45_000)

test('D3: every final status has its cause, whether or not the phone rang', () => {
  const causes: Readonly<Record<number, DialFailureCause>> = {
    302: 'rejected',
    401: 'authentication',
    403: 'rejected',
    404: 'rejected',
    407: 'authentication',
    408: 'no_answer',
    410: 'rejected',
    415: 'media_mismatch',
    480: 'no_answer',
    484: 'rejected',
    486: 'busy',
    487: 'rejected',
    488: 'media_mismatch',
    500: 'rejected',
    502: 'rejected',
    504: 'rejected',
    600: 'busy',
    603: 'busy',
    604: 'rejected',
    606: 'media_mismatch',
  }
  for (const [status, cause] of Object.entries(causes)) {
    for (const rang of [false, true]) {
      const failure = refusal(Number(status), rang)
      assert.equal(failure.cause, cause, status)
      assert.equal(failure.sipStatus, Number(status))
      assert.equal(failure.rang, rang)
      assert.equal(failure.invited, true)
      assert.equal(failure.retryAfterMs, undefined)
    }
  }
})

test('D3 and D14: congestion is 503, or 500 with Retry-After, and only before any 18x', () => {
  const later: readonly Header[] = [['retry-after', '30']]
  assert.equal(refusal(503).cause, 'congestion')
  assert.equal(refusal(503).retryAfterMs, undefined)
  assert.equal(refusal(503, false, later).retryAfterMs, 30_000)
  assert.equal(refusal(500, false, later).cause, 'congestion')
  assert.equal(refusal(500, false, later).retryAfterMs, 30_000)
  assert.equal(refusal(503, true, later).cause, 'rejected')
  assert.equal(refusal(503, true, later).retryAfterMs, undefined)
  assert.equal(refusal(500, true, later).cause, 'rejected')
})

test('D3: a telephony failure begins with the SIP status, and quotes the carrier’s own phrase', () => {
  assert.match(refusal(404).reason, /^SIP 404 Not Found: /)
  const unallocated = response(404, 'Unallocated\u0007 "number"', [['reason', 'Q.850;cause=1']])
  assert.match(
    failedDial({ kind: 'refused', response: unallocated, rang: false }, 0).reason,
    /^SIP 404 Not Found \(Q\.850 cause 1, "Unallocated number"\): /,
  )
  const long = response(699, 'x'.repeat(5000))
  const { reason } = failedDial({ kind: 'refused', response: long, rang: false }, 0)
  assert.ok(reason.startsWith('SIP 699 xxx') && reason.length < 500)
})

test('a ring timeout is no answer, with the status that ended the ringing', () => {
  const terminated = response(487, 'Request Terminated')
  assert.deepEqual(failedDial({ kind: 'ring_timeout', rang: true, response: terminated }, 45_000), {
    cause: 'no_answer',
    sipStatus: 487,
    reason: 'SIP 487 Request Terminated: nobody answered within 45 seconds.',
    rang: true,
    invited: true,
  })
  assert.equal(
    failedDial({ kind: 'ring_timeout', rang: true }, 30_000).reason,
    'Nobody answered within 30 seconds.',
  )
})

test('no response from the trunk is no route, and nothing sent is not sent', () => {
  const unreachable = failedDial(
    { kind: 'unreachable', reason: 'no response came', rang: false, invited: true },
    0,
  )
  assert.equal(unreachable.cause, 'no_route')
  assert.equal(unreachable.invited, true)
  const unsent = failedDial({ kind: 'not_sent' }, 0)
  assert.deepEqual([unsent.cause, unsent.invited, unsent.rang], ['not_sent', false, false])
  const cancelled = failedDial({ kind: 'cancelled', rang: true, invited: true }, 0)
  assert.deepEqual([cancelled.cause, cancelled.rang], ['cancelled', true])
})
