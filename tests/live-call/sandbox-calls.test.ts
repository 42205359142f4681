// Runs beside few others: it waits for most of its 52 s.
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import type { CallPlan } from '../../src/live-call/call/live-call-port.ts'
import { CallStop, type DialableCall } from '../../src/domains/calls/lifecycle/hand-over.ts'
import { ladderOf } from '../../src/domains/calls/sip-ladder.ts'
import { listSipTraces } from '../../src/domains/calls/sip-trace-store.ts'
import { findRecordingDetails } from '../../src/domains/recordings/recording-details.ts'
import { probeAudio } from '../support/ffmpeg.ts'
import { startLiveCallRig, type LiveCallRig } from '../support/live-call-rig.ts'
import { missingPeer } from '../support/peers.ts'
import { until } from '../support/until.ts'

/** The recording of the long conversation. */
interface Recorded {
  readonly mp3: string
  readonly seconds: number
  readonly lastTurnMs: number
}

/**
 * Calls to the personas of the sandbox: real SIP and RTP over loopback, a media worker, the engine's wire protocol,
 * the database. They run side by side, because the longest takes half a minute.
 */
describe('a live call to the sandbox', { concurrency: true, timeout: 120_000 }, () => {
  let rig: LiveCallRig
  before(async () => {
    rig = await startLiveCallRig()
  })
  after(() => rig.stop())

  const runTo = async (
    phoneNumber: string,
    options: { ringTimeoutMs?: number; plan?: Partial<CallPlan> } = {},
  ): Promise<DialableCall> => {
    const call = await rig.dial(phoneNumber)
    await rig.run(call, undefined, options)
    return call
  }
  const speakersOf = async (call: DialableCall) =>
    (await rig.turns(call)).map(({ speaker }) => speaker)
  const ringsOf = async (call: DialableCall) =>
    (await rig.sandbox.report()).calls[call.callId]?.ringing
  const congestedOf = async (call: DialableCall) =>
    (await rig.sandbox.report()).calls[call.callId]?.congested
  const invitesOf = async (call: DialableCall) =>
    (await rig.sandbox.report()).calls[call.callId]?.invite

  const { promise: recorded, resolve: isRecorded } = Promise.withResolvers<Recorded>()

  it('holds a conversation of at least four turns each, and records all of it', async () => {
    const call = await runTo('+12025550100')
    const row = await rig.row(call)
    assert.deepEqual([row.status, row.answer_status], ['completed', 'answered'])
    const turns = await rig.turns(call)
    for (const speaker of ['agent', 'contact']) {
      assert.ok(turns.filter((turn) => turn.speaker === speaker).length >= 4, speaker)
    }
    assert.deepEqual(
      turns.map(({ sequence }) => sequence),
      turns.map((_turn, index) => index + 1),
    )
    const heard = turns.filter(({ speaker }) => speaker === 'contact').map(({ text }) => text)
    assert.ok(heard.includes('That sounds good. Tuesday morning works for me.'), heard.join(' '))
    await rig.summarize(call)
    assert.match((await rig.row(call)).summary ?? '', /Tuesday morning/)
    isRecorded({
      mp3: await rig.encode(call),
      seconds: row.duration_seconds ?? 0,
      lastTurnMs: turns.at(-1)?.audioOffsetMs ?? 0,
    })
  })

  it(
    'has the whole call in the MP3, in stereo at 8 kHz',
    { skip: missingPeer('ffprobe') ?? false },
    async () => {
      const { mp3, seconds, lastTurnMs } = await recorded
      const audio = await probeAudio(mp3)
      assert.deepEqual([audio.codec, audio.channels, audio.sampleRateHz], ['mp3', 2, 8000])
      assert.ok(Math.abs(audio.seconds - seconds) <= 1, `${audio.seconds} s of ${seconds} s`)
      assert.ok(lastTurnMs < audio.seconds * 1000)
    },
  )

  it('keeps the SIP messages of every attempt, masked', async () => {
    const busy = await runTo('+12025550101')
    const [refused] = await listSipTraces(rig.db, busy.organizationId, busy.callId)
    assert.ok(refused)
    const refusal = ladderOf(refused, true)
    assert.match(refusal[0] ?? '', /^→ INVITE sip:\+1202\*\*\*0101@127\.0\.0\.1/)
    // Any of them may be repeated.
    assert.ok(refusal.includes('← 486 Busy Here (INVITE)'), refusal.join('\n'))
    assert.ok(refusal.some((rung) => rung.startsWith('→ ACK sip:+1202***0101@')))
    const hungUp = await runTo('+12025550107')
    const [answered] = await listSipTraces(rig.db, hungUp.organizationId, hungUp.callId)
    assert.ok(answered)
    const rungs = ladderOf(answered, true)
    for (const part of [/^← 200 OK \(INVITE\)/, /^→ ACK /, /^← BYE /, /^→ 200 OK \(BYE\)/])
      assert.ok(
        rungs.some((rung) => part.test(rung)),
        `${part} in ${rungs.join('\n')}`,
      )
    const everything = JSON.stringify([refused, answered])
    for (const number of ['2025550101', '2025550107', '2025550199'])
      assert.ok(!everything.includes(number), number)
  })

  it('keeps the words and no audio of a call that is not to be recorded', async () => {
    const call = await runTo('+12025550110', { plan: { isRecorded: false } })
    const row = await rig.row(call)
    assert.deepEqual([row.status, row.answer_status], ['completed', 'answered'])
    assert.ok((await speakersOf(call)).includes('contact'))
    assert.deepEqual(await findRecordingDetails(rig.db, call), {
      status: 'unavailable',
      reason: 'not_enabled',
    })
    const names = await readdir(rig.spoolFolder)
    assert.ok(!names.some((name) => name.startsWith(call.callId)), 'a spool was written')
  })

  for (const [number, status, answerStatus, reason] of [
    ['+12025550101', 'completed', 'busy', 'SIP 486 Busy Here'],
    ['+12025550104', 'failed', 'unknown', 'SIP 404 Not Found'],
    ['+12025550109', 'completed', 'busy', 'SIP 603 Decline'],
  ] as const) {
    it(`ends ${status} and ${answerStatus} at ${number}`, async () => {
      const call = await runTo(number)
      const row = await rig.row(call)
      assert.deepEqual([row.status, row.answer_status], [status, answerStatus])
      assert.ok(row.outcome_reason?.startsWith(reason), row.outcome_reason ?? '')
      assert.deepEqual([row.connected_at, row.duration_seconds], [null, null])
      assert.equal(await invitesOf(call), 1)
    })
  }

  it('is not answered at +12025550102', async () => {
    const row = await rig.row(await runTo('+12025550102', { ringTimeoutMs: 1_500 }))
    assert.deepEqual([row.status, row.answer_status], ['completed', 'no_answer'])
  })

  it('recognises the voicemail of +12025550103 and leaves no message', async () => {
    const row = await rig.row(await runTo('+12025550103'))
    assert.deepEqual(
      [row.status, row.answer_status, row.outcome],
      ['completed', 'voicemail', 'voicemail_skipped'],
    )
  })

  it('leaves its message on the voicemail of +12025550103 if configured', async () => {
    const plan = { voicemail: 'leave_message', voicemailMessage: 'Please call us back.' } as const
    const call = await runTo('+12025550103', { plan })
    const row = await rig.row(call)
    assert.deepEqual([row.answer_status, row.outcome], ['voicemail', 'voicemail_left'])
    assert.ok((await rig.turns(call)).some(({ text }) => text === 'Please call us back.'))
  })

  it('waits for the congested trunk of +12025550105, then is answered', async () => {
    let call = await runTo('+12025550105')
    // On a busy machine the trunk may not respond in time: such a call waits too, but has not met the congestion
    // yet.
    for (let tries = 1; tries < 3 && !(await congestedOf(call)); tries += 1) {
      call = await rig.redial(call)
      await rig.run(call)
    }
    const waiting = await rig.row(call)
    assert.deepEqual([waiting.status, waiting.dialing_at], ['queued', null])
    assert.equal(await congestedOf(call), 1)
    const invites = (await invitesOf(call)) ?? 0
    const again = await rig.redial(call)
    await rig.run(again)
    assert.equal((await rig.row(again)).answer_status, 'answered')
    assert.equal(await invitesOf(call), invites + 1)
  })

  it('ends by itself when +12025550106 stays silent, with its own words as transcript', async () => {
    const call = await runTo('+12025550106')
    const row = await rig.row(call)
    assert.deepEqual([row.status, row.answer_status], ['completed', 'answered'])
    const speakers = await speakersOf(call)
    assert.ok(speakers.length > 0 && speakers.every((speaker) => speaker === 'agent'))
  })

  it('survives +12025550107, who hangs up at once', async () => {
    const call = await runTo('+12025550107')
    const row = await rig.row(call)
    assert.deepEqual([row.status, row.answer_status], ['completed', 'answered'])
    assert.ok((row.duration_seconds ?? 9) <= 1)
  })

  it('is cancelled in the middle of the conversation with +12025550108', async () => {
    const call = await rig.dial('+12025550108')
    const control = new AbortController()
    const done = rig.run(call, control.signal)
    await until('two turns', async () => ((await rig.turns(call)).length >= 2 ? true : undefined))
    control.abort(new CallStop('cancel_requested'))
    await done
    const row = await rig.row(call)
    assert.deepEqual([row.status, row.answer_status], ['cancelled', 'answered'])
    assert.ok(row.cancelled_at !== null)
    assert.ok((await speakersOf(call)).length >= 2)
  })

  it('is cancelled while the phone of +12025550102 rings', async () => {
    const call = await rig.dial('+12025550102')
    const control = new AbortController()
    const done = rig.run(call, control.signal)
    await until('the phone to ring', async () => (await ringsOf(call)) || undefined)
    control.abort(new CallStop('cancel_requested'))
    await done
    const row = await rig.row(call)
    assert.deepEqual([row.status, row.connected_at], ['cancelled', null])
  })

  it('ends at the cap of its agent, however long +12025550108 talks', async () => {
    const row = await rig.row(await runTo('+12025550108', { plan: { maxDurationMs: 10_000 } }))
    assert.deepEqual([row.status, row.answer_status], ['completed', 'answered'])
    assert.ok((row.duration_seconds ?? 99) <= 10)
  })

  it('bars +12025550110, who asks never to be called again', async () => {
    const call = await runTo('+12025550110')
    assert.equal((await rig.row(call)).outcome, 'opted_out')
    assert.equal(await rig.isBarred(call), true)
  })

  it('answers the digest challenge of +12025550111 and rings once', async () => {
    const call = await runTo('+12025550111')
    assert.equal((await rig.row(call)).answer_status, 'answered')
    const counts = (await rig.sandbox.report()).calls[call.callId]
    assert.deepEqual([counts?.challenged, counts?.ringing], [1, 1])
  })

  it('fails before it rings when its engine is unreachable', async () => {
    const plan = { engine: { kind: 'realtime', url: 'ws://127.0.0.1:9/' } } as const
    const row = await rig.row(await runTo('+12025550100', { plan }))
    assert.deepEqual(
      [row.status, row.connected_at, row.outcome_reason],
      ['failed', null, 'The voice engine could not be reached.'],
    )
  })
})

describe('a live call whose engine dies', { timeout: 120_000 }, () => {
  it('fails answered, keeps its words, and is hung up', async () => {
    const rig = await startLiveCallRig()
    try {
      const call = await rig.dial('+12025550108')
      const done = rig.run(call)
      await until('two turns', async () => ((await rig.turns(call)).length >= 2 ? true : undefined))
      await rig.engine.stop()
      await done
      const row = await rig.row(call)
      assert.deepEqual(
        [row.status, row.answer_status, row.outcome_reason],
        ['failed', 'answered', 'The voice engine failed during the call.'],
      )
      assert.ok((await rig.turns(call)).length >= 2)
      await rig.summarize(call)
      assert.ok((await rig.row(call)).summary)
      assert.equal((await rig.sandbox.report()).calls[call.callId]?.ended, 1)
    } finally {
      await rig.stop()
    }
  })
})
