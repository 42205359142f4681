import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { DialFailure } from '../../telephony/carrier.ts'
import {
  createFakeDependencies,
  createFakeLeg,
  fakeCall,
  fakePlan,
  fakeReport,
  pcmuMedia,
  type FakeDependencies,
  type FakeLeg,
} from '../../../tests/support/live-call/fake-call.ts'
import { MediaUnavailableError } from '../media/media-port.ts'
import type { SpokenTurn } from '../../domains/results/transcript-store.ts'
import { createRunCall } from './run-call.ts'
import { CallStop } from '../../domains/calls/lifecycle/hand-over.ts'

const turn = (sequence: number): SpokenTurn => ({
  sequence,
  speaker: sequence % 2 === 1 ? 'agent' : 'contact',
  text: `Turn ${sequence}.`,
  audioOffsetMs: sequence * 1000,
})

interface LiveRun {
  readonly deps: FakeDependencies
  readonly leg: FakeLeg
  readonly control: AbortController
  readonly done: Promise<void>
}

const startRun = (deps = createFakeDependencies(), call = fakeCall()): LiveRun => {
  const control = new AbortController()
  return { deps, leg: createFakeLeg(), control, done: createRunCall(deps)(call, control.signal) }
}

const startAnswered = async (deps = createFakeDependencies()): Promise<LiveRun> => {
  const run = startRun(deps)
  await deps.carrier.dialed
  deps.carrier.answer(run.leg)
  await deps.media.started
  return run
}

const endingAfter = async (failure: Partial<DialFailure>): Promise<FakeDependencies> => {
  const { deps, done } = startRun()
  await deps.carrier.dialed
  deps.carrier.fail(failure)
  await done
  return deps
}

describe('an unanswered attempt', () => {
  const table: readonly (readonly [Partial<DialFailure>, object])[] = [
    [
      { cause: 'busy', reason: 'SIP 486 Busy Here' },
      { status: 'completed', answerStatus: 'busy' },
    ],
    [
      { cause: 'busy', reason: 'SIP 603 Decline' },
      { status: 'completed', answerStatus: 'busy' },
    ],
    [
      { cause: 'no_answer', reason: 'SIP 480 Temporarily Unavailable' },
      { status: 'completed', answerStatus: 'no_answer' },
    ],
    [
      { cause: 'rejected', reason: 'SIP 404 Not Found' },
      { status: 'failed', answerStatus: 'unknown' },
    ],
    [
      { cause: 'authentication', reason: 'SIP 407 Proxy Authentication Required', rang: true },
      { status: 'failed', answerStatus: 'unknown' },
    ],
    [
      { cause: 'no_route', reason: 'The trunk did not answer.' },
      { status: 'failed', answerStatus: 'unknown' },
    ],
    [
      { cause: 'media_mismatch', reason: 'SIP 488 Not Acceptable Here' },
      { status: 'failed', answerStatus: 'unknown' },
    ],
    [
      { cause: 'congestion', reason: 'SIP 503 Service Unavailable', rang: true },
      { status: 'failed', answerStatus: 'unknown' },
    ],
  ]
  for (const [failure, ending] of table) {
    it(`ends as decision D3 requires after ${failure.reason}${failure.rang ? ' and a ring' : ''}`, async () => {
      const { ledger, media } = await endingAfter(failure)
      assert.deepEqual(
        ledger.finished.map((finished) => finished.ending),
        [{ ...ending, outcome: 'not_reached', outcomeReason: failure.reason }],
      )
      assert.equal(ledger.finished[0]?.answered, undefined)
      assert.deepEqual(media.log, ['prepare', 'stop'])
    })
  }

  it('goes back to the queue after congestion', async () => {
    const failure = {
      cause: 'congestion',
      reason: 'SIP 503 Service Unavailable',
      retryAfterMs: 7000,
    } as const
    const { ledger, media } = await endingAfter(failure)
    assert.deepEqual(ledger.log, ['congested SIP 503 Service Unavailable'])
    assert.equal(media.log.at(-1), 'stop')
  })

  it('goes back to the queue when the trunk refuses its credentials', async () => {
    const reason = 'SIP 407 Proxy Authentication Required'
    const { ledger } = await endingAfter({ cause: 'authentication', reason })
    assert.deepEqual(ledger.log, [`trunk_down ${reason}`])
    assert.deepEqual(ledger.finished, [])
  })

  it('goes back to the queue when the lease was lost before the INVITE', async () => {
    const { deps, done } = startRun(createFakeDependencies(), fakeCall({ mayInvite: () => false }))
    await done
    assert.deepEqual(deps.ledger.log, ['unsent The lease was lost.'])
  })

  it('goes back to the queue when no media worker is free, without a dial', async () => {
    const deps = createFakeDependencies()
    deps.media.refusal = new MediaUnavailableError('Every media worker is busy.')
    await startRun(deps).done
    assert.deepEqual(deps.ledger.log, ['unsent Every media worker is busy.'])
    assert.equal(deps.carrier.dials, 0)
  })

  it('fails with the reason when there is no plan for it, and frees the socket', async () => {
    const deps = createFakeDependencies({
      loadPlan: async () => ({ problem: 'The engine is unknown.' }),
    })
    await startRun(deps).done
    assert.equal(deps.ledger.finished[0]?.ending.status, 'failed')
    assert.equal(deps.ledger.finished[0]?.ending.outcomeReason, 'The engine is unknown.')
    assert.deepEqual([deps.media.log, deps.carrier.dials], [['stop'], 0])
  })

  it('goes back to the queue when its plan could not be read', async () => {
    const deps = createFakeDependencies({ loadPlan: () => Promise.reject(new Error('away')) })
    await startRun(deps).done
    assert.deepEqual(deps.ledger.log, ['unsent The call could not be prepared.'])
  })

  it('stops ringing when the engine cannot be opened, and reports it', async () => {
    const { deps, done } = startRun()
    const { signal } = await deps.carrier.dialed
    deps.media.emit({ type: 'breakdown', reason: 'The voice engine could not be reached.' })
    await done
    assert.equal(signal.aborted, true)
    const ending = deps.ledger.finished[0]?.ending
    assert.deepEqual(
      [ending?.status, ending?.outcomeReason],
      ['failed', 'The voice engine could not be reached.'],
    )
  })

  it('never asks the carrier to ring longer than a minute', async () => {
    const { deps, done } = startRun(createFakeDependencies({ ringTimeoutMs: 300_000 }))
    assert.equal((await deps.carrier.dialed).request.ringTimeoutMs, 60_000)
    deps.carrier.fail({})
    await done
  })

  it('ends as not answered when the carrier does not stop ringing', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] })
    const { deps, done } = startRun()
    await deps.carrier.dialed
    test.mock.timers.tick(46_999)
    assert.equal((await deps.carrier.dialed).signal.aborted, false)
    test.mock.timers.tick(1)
    await done
    assert.equal(deps.ledger.finished[0]?.ending.answerStatus, 'no_answer')
  })
})

describe('cancellation of a live call', () => {
  it('ends a ringing call cancelled', async () => {
    const { deps, control, done } = startRun()
    await deps.carrier.dialed
    control.abort(new CallStop('cancel_requested'))
    await done
    assert.deepEqual(deps.ledger.finished, [{ ending: { status: 'cancelled' } }])
  })

  it('ends a call cancelled and hung up when a 200 crosses it', async () => {
    const { deps, leg, control, done } = startRun()
    await deps.carrier.dialed
    control.abort(new CallStop('cancel_requested'))
    deps.carrier.answer(leg)
    await done
    assert.deepEqual(deps.ledger.finished, [{ ending: { status: 'cancelled' } }])
    assert.equal(leg.hangUps, 1)
    assert.deepEqual(deps.media.log, ['prepare', 'stop'])
  })

  it('wins over the return to the queue', async () => {
    const { deps, control, done } = startRun()
    await deps.carrier.dialed
    deps.carrier.fail({ cause: 'congestion', reason: 'SIP 503 Service Unavailable' })
    control.abort(new CallStop('cancel_requested'))
    await done
    assert.deepEqual(deps.ledger.log, ['finish cancelled'])
  })

  it('hangs up an answered call and keeps its words', async () => {
    const { deps, leg, control, done } = await startAnswered()
    deps.media.emit({ type: 'turn', turn: turn(1) })
    control.abort(new CallStop('cancel_requested'))
    await done
    const finished = deps.ledger.finished[0]
    assert.deepEqual(finished?.ending, { status: 'cancelled', answerStatus: 'answered' })
    assert.equal(finished?.answered?.turnCount, 1)
    assert.equal(leg.hangUps, 1)
  })

  it('loses against a BYE that came first', async () => {
    const { deps, leg, control, done } = await startAnswered()
    leg.end({ by: 'callee' })
    await Promise.resolve()
    control.abort(new CallStop('cancel_requested'))
    await done
    assert.equal(deps.ledger.finished[0]?.ending.status, 'completed')
  })

  it('ends before the INVITE when it was requested before', async () => {
    const deps = createFakeDependencies()
    const control = new AbortController()
    control.abort(new CallStop('cancel_requested'))
    await createRunCall(deps)(fakeCall(), control.signal)
    assert.deepEqual(deps.ledger.log, ['finish cancelled'])
  })
})

describe('an answered call', () => {
  it('is completed by the callee, with its turns, duration and recording', async () => {
    const { deps, leg, done } = await startAnswered()
    deps.media.emit({ type: 'turn', turn: turn(1) })
    deps.media.emit({ type: 'turn', turn: turn(2) })
    deps.media.lastWords = [{ type: 'turn', turn: turn(3) }]
    leg.end({ by: 'callee' })
    await done
    assert.deepEqual(deps.ledger.finished, [
      {
        ending: { status: 'completed', answerStatus: 'answered' },
        answered: {
          connectedAt: new Date('2026-11-20T10:00:00Z'),
          durationSeconds: 12,
          optedOut: false,
          unsavedTurns: deps.ledger.finished[0]?.answered?.unsavedTurns,
          turnCount: 3,
          measured: {
            engine: { kind: 'realtime', url: 'ws://127.0.0.1:1' },
            timing: { latencies: [], firstWordsMs: undefined },
          },
          report: fakeReport,
        },
      },
    ])
    const stored = [
      ...deps.ledger.turns,
      ...(deps.ledger.finished[0]?.answered?.unsavedTurns ?? []),
    ]
    assert.deepEqual(
      stored.map(({ sequence }) => sequence),
      [1, 2, 3],
    )
    assert.ok(deps.ledger.log.includes('connected'))
    assert.deepEqual(deps.media.log, ['prepare', 'start', 'stop'])
  })

  it('is hung up when the agent has said goodbye', async () => {
    const { deps, leg, done } = await startAnswered()
    deps.media.emit({ type: 'hang_up', reason: 'agent_ended' })
    await done
    assert.equal(leg.hangUps, 1)
    assert.equal(deps.ledger.finished[0]?.ending.status, 'completed')
  })

  for (const [messageLeft, outcome] of [
    [true, 'voicemail_left'],
    [false, 'voicemail_skipped'],
  ] as const) {
    it(`answered by a machine ends as ${outcome}`, async () => {
      const { deps, done } = await startAnswered()
      deps.media.emit({ type: 'voicemail', messageLeft })
      deps.media.emit({ type: 'hang_up', reason: 'voicemail' })
      await done
      const ending = deps.ledger.finished[0]?.ending
      assert.deepEqual(
        [ending?.status, ending?.answerStatus, ending?.outcome],
        ['completed', 'voicemail', outcome],
      )
    })
  }

  it('with an opt-out has that outcome', async () => {
    const { deps, done } = await startAnswered()
    deps.media.emit({ type: 'opted_out' })
    deps.media.emit({ type: 'hang_up', reason: 'opted_out' })
    await done
    assert.equal(deps.ledger.finished[0]?.ending.outcome, 'opted_out')
    assert.equal(deps.ledger.finished[0]?.answered?.optedOut, true)
  })

  for (const [reported, outcome, optedOut] of [
    ['appointment_booked', 'appointment_booked', false],
    ['opted_out', 'opted_out', true],
    ['made_up', undefined, false],
  ] as const) {
    it(`ends as ${outcome ?? 'nothing'} when the agent reports ${reported}`, async () => {
      const deps = createFakeDependencies()
      deps.media.report = { ...fakeReport, reportedOutcome: reported }
      const { leg, done } = await startAnswered(deps)
      leg.end({ by: 'callee' })
      await done
      assert.equal(deps.ledger.finished[0]?.ending.outcome, outcome)
      assert.equal(deps.ledger.finished[0]?.answered?.optedOut, optedOut)
    })
  }

  it('is ended at the cap of its agent, whatever the conversation does', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] })
    const deps = createFakeDependencies({
      loadPlan: async () => ({ plan: { ...fakePlan, maxDurationMs: 10_000 } }),
    })
    const { leg, done } = await startAnswered(deps)
    test.mock.timers.tick(10_000)
    await done
    assert.equal(leg.hangUps, 1)
    assert.equal(deps.ledger.finished[0]?.ending.status, 'completed')
  })

  const breakdowns = [
    [{ type: 'media_silence' }, 'No audio arrived from the carrier for 30 seconds.'],
    [{ type: 'breakdown', reason: 'The media worker broke down.' }, 'The media worker broke down.'],
  ] as const
  for (const [event, reason] of breakdowns) {
    it(`fails answered after ${event.type}, keeping what was said`, async () => {
      const { deps, leg, done } = await startAnswered()
      deps.media.emit({ type: 'turn', turn: turn(1) })
      deps.media.emit(event)
      await done
      const ending = deps.ledger.finished[0]?.ending
      assert.deepEqual(
        [ending?.status, ending?.answerStatus, ending?.outcomeReason],
        ['failed', 'answered', reason],
      )
      assert.equal(deps.ledger.finished[0]?.answered?.turnCount, 1)
      assert.equal(leg.hangUps, 1)
    })
  }

  it('takes its duration from the clock when the media worker died with it', async () => {
    const deps = createFakeDependencies()
    const { done, leg } = await startAnswered(deps)
    deps.media.report = { ...fakeReport, durationMs: undefined }
    deps.clock.advance(3_700)
    leg.end({ by: 'failure', reason: 'The session timer expired.' })
    await done
    assert.equal(deps.ledger.finished[0]?.answered?.durationSeconds, 4)
    assert.equal(deps.ledger.finished[0]?.ending.outcomeReason, 'The session timer expired.')
  })

  it('ends completed at a shutdown, by our BYE', async () => {
    const { deps, leg, control, done } = await startAnswered()
    control.abort(new CallStop('shutdown'))
    await done
    assert.equal(deps.ledger.finished[0]?.ending.status, 'completed')
    assert.match(deps.ledger.finished[0]?.ending.outcomeReason ?? '', /shut down/)
    assert.equal(leg.hangUps, 1)
  })

  it('is hung up and not written when its lease is lost', async () => {
    const { deps, leg, control, done } = await startAnswered()
    control.abort(new CallStop('lease_lost'))
    await done
    assert.deepEqual([leg.hangUps, deps.ledger.finished], [1, []])
  })

  it('is hung up and not written when another node has ended it', async () => {
    const deps = createFakeDependencies()
    deps.ledger.isOurs = false
    const { leg, done } = await startAnswered(deps)
    await done
    assert.deepEqual([leg.hangUps, deps.ledger.finished], [1, []])
  })

  it('passes on every change of the media, and every key', async () => {
    const { deps, leg, done } = await startAnswered()
    leg.changeMedia({ ...pcmuMedia, direction: 'recvonly' })
    leg.press('5')
    leg.end({ by: 'callee' })
    await done
    assert.deepEqual(deps.media.log, ['prepare', 'start', 'media recvonly', 'digit 5', 'stop'])
  })

  it('notes a hold and its end once each, whatever is repeated meanwhile', async () => {
    const { deps, leg, done } = await startAnswered()
    leg.changeMedia({ ...pcmuMedia, direction: 'recvonly' })
    leg.changeMedia({ ...pcmuMedia, direction: 'inactive' })
    leg.changeMedia(pcmuMedia)
    leg.end({ by: 'callee' })
    await done
    assert.deepEqual(
      deps.ledger.log.filter((entry) => entry.startsWith('note')),
      ['note held', 'note resumed'],
    )
  })

  it('notes audio that goes one way, and sends the keys of a trunk with INFO', async () => {
    const { deps, leg, done } = await startAnswered()
    deps.media.emit({ type: 'one_way_audio', missing: 'from_callee' })
    deps.media.emit({ type: 'send_digits', digits: '12' })
    leg.end({ by: 'callee' })
    await done
    assert.ok(deps.ledger.log.includes('note one_way_audio'))
    assert.deepEqual(leg.sentDigits, ['12'])
  })

  it('is ended completed when the callee does not take the line back', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] })
    const { deps, leg, done } = await startAnswered()
    leg.changeMedia({ ...pcmuMedia, direction: 'recvonly' })
    test.mock.timers.tick(299_999)
    leg.changeMedia(pcmuMedia)
    leg.changeMedia({ ...pcmuMedia, direction: 'inactive' })
    test.mock.timers.tick(299_999)
    assert.equal(leg.hangUps, 0)
    test.mock.timers.tick(1)
    await done
    assert.equal(leg.hangUps, 1)
    const [finished] = deps.ledger.finished
    assert.deepEqual(finished?.ending, {
      status: 'completed',
      answerStatus: 'answered',
      outcomeReason: 'The callee held the line for longer than 300 seconds.',
    })
    assert.equal(finished?.answered?.hangUpReason, 'held_too_long')
  })

  it('holds the conversation of a callee who holds the line from the answer on', async () => {
    const run = startRun()
    await run.deps.carrier.dialed
    run.deps.carrier.answer({ ...run.leg, media: { ...pcmuMedia, direction: 'inactive' } })
    await run.deps.media.started
    run.leg.end({ by: 'callee' })
    await run.done
    assert.ok(run.deps.ledger.log.includes('note held'))
  })

  it('is written once the database is back', async () => {
    const { deps, leg, done } = await startAnswered()
    deps.ledger.failures = 3
    deps.media.emit({ type: 'turn', turn: turn(1) })
    leg.end({ by: 'callee' })
    await done
    const stored = [
      ...deps.ledger.turns,
      ...(deps.ledger.finished[0]?.answered?.unsavedTurns ?? []),
    ]
    assert.equal(stored.length, 1)
    assert.equal(deps.ledger.finished.length, 1)
  })
})
