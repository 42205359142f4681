// Runs beside others: it waits for most of its 40 s.
import assert from 'node:assert/strict'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { after, before, describe, it } from 'node:test'

import { createThreadEncoder } from '../../src/live-call/recording/encode-in-thread.ts'
import { fakePlan } from '../support/live-call/fake-call.ts'
import { MediaChannel, type LiveConversation } from '../../src/live-call/media/media-channel.ts'
import { createRecorderSpool } from '../../src/live-call/recording/recorder-spool.ts'
import { spoolFrameBytes, spoolHeaderBytes } from '../../src/live-call/recording/spool-format.ts'
import { findRecordingDetails } from '../../src/domains/recordings/recording-details.ts'
import { createManualTime } from '../support/manual-time.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { openRtpSession } from '../../src/rtp/rtp-session.ts'
import { clickFrame, findClicks, frameMs, holdsClick, silentFrame } from '../support/clicks.ts'
import { decodeStereo } from '../support/ffmpeg.ts'
import { startLiveCallRig } from '../support/live-call-rig.ts'
import { missingPeer } from '../support/peers.ts'
import { until } from '../support/until.ts'
import type { OrganizationId } from '../../src/contract/organization-id.ts'

/** Clicks at known instants on both sides, located in a player's output of the finished MP3. */

/** The promise is 20 ms; with manual ticks only the codec's own spread is allowed. */
const toleranceMs = 2
const signal = new AbortController().signal
const encodeInThread = createThreadEncoder()
const missing = missingPeer('ffmpeg')

let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'outdial-clock-'))
})
after(() => rm(folder, { recursive: true }))

const assertSameInstants = (found: readonly number[], expected: readonly number[]): void => {
  assert.equal(found.length, expected.length, `${found.length} clicks of ${expected.length}`)
  for (const [index, expectedMs] of expected.entries()) {
    const foundMs = found[index] ?? Number.NaN
    assert.ok(
      Math.abs(foundMs - expectedMs) <= toleranceMs,
      `click ${index} at ${foundMs} ms instead of ${expectedMs} ms`,
    )
  }
}

describe('the recording of an RTP call', { skip: missing ?? false }, () => {
  /** Frames of one minute of call; the first and the last have a click, where losses are most likely. */
  const frames = 3_000
  const agentClicks = new Map<number, number>([
    [0, 0],
    [1_000, 7],
    [1_777, 13],
    [2_345, 4],
    [frames - 1, 17],
  ])
  const contactClicks = new Map<number, number>([
    [0, 3],
    [500, 0],
    [1_234, 11],
    [2_500, 18],
    [frames - 10, 5],
  ])

  /**
   * One call over real sockets, both ends ticked by hand. Each side's 20 ms begin when the earlier packets have
   * arrived, so every instant is known on any machine.
   */
  const holdCall = async () => {
    const clock = createManualTime(new Date('2026-11-20T10:00:00Z'))
    const socket = { bindAddress: '127.0.0.1', portRange: { min: 38_000, max: 39_998 } }
    const ours = await openRtpSession(socket, clock)
    const theirs = await openRtpSession(socket, clock)
    const media = { codec: 'pcmu', payloadType: 0, direction: 'sendrecv' } as const
    theirs.connect({ ...media, remote: { address: ours.address, port: ours.port } })

    const heardAtTick: number[] = []
    const deafTicks: number[] = []
    let ticks = 0
    const ready = Promise.withResolvers<void>()
    const conversation: LiveConversation = {
      tick: (heard) => {
        if (holdsClick(heard)) heardAtTick.push(ticks)
        const click = agentClicks.get(ticks)
        ticks += 1
        return click === undefined ? silentFrame() : clickFrame(click)
      },
      heardDigit: () => undefined,
      hold: () => undefined,
      agentWords: () => undefined,
      finish: async () => ({ optedOut: false, voicemail: 'none', usage: noUsage }),
    }
    let tick = (): void => undefined
    const channel = new MediaChannel({
      callId: 'call',
      rtp: ours,
      ticker: {
        add: (run) => {
          tick = run
          return () => undefined
        },
        lateness: () => ({ p50Ms: 0, p99Ms: 0, maxMs: 0, count: 0 }),
        framesSkipped: 0,
        size: 1,
        stop: () => undefined,
      },
      openEngine: () => ({ name: 'fake', open: async () => silentSession }),
      openVoiceActivity: async () => ({ isVoiced: () => false, close: () => undefined }),
      createConversation: () => {
        ready.resolve()
        return conversation
      },
      post: () => undefined,
      logger: silentLogger,
    })
    channel.prepare(fakePlan)
    const path = join(folder, 'rtp.spool')
    channel.start(
      { ...media, remote: { address: theirs.address, port: theirs.port } },
      {
        path,
        organizationId: 'organization' as OrganizationId,
        startedAt: clock.now().toISOString(),
      },
    )
    await ready.promise

    for (let frame = 0; frame < frames; frame += 1) {
      const click = contactClicks.get(frame)
      theirs.send(click === undefined ? silentFrame() : clickFrame(click))
      while (ours.stats().packetsReceived <= frame) await nextTurn()
      tick()
      const heardThere = theirs.receive()
      if (holdsClick(heardThere)) deafTicks.push(frame)
      clock.advance(frameMs)
      if (frame % 50 === 49) await spooled(path, frame + 1)
    }
    const figures = { playoutDelayMs: ours.stats().playoutDelayMs, heardAtTick, deafTicks }
    const report = await channel.stop()
    await theirs.close()
    return { path, report, ...figures }
  }

  it('has every click of both sides at its instant, in its own lane, from the first frame to the last', async () => {
    const call = await holdCall()
    assert.deepEqual([call.report.durationMs, call.report.framesLost], [frames * frameMs, 0])
    const mp3 = `${call.path}.mp3`
    const audio = await encodeInThread(call.path, mp3, signal)
    assert.equal(audio.durationMs, frames * frameMs)
    const { left, right } = await decodeStereo(mp3)
    assert.equal(left.length, frames * frameMs * 8, 'the player gets every sample, and no more')

    assertSameInstants(
      findClicks(left),
      [...agentClicks].map(([frame, ms]) => frame * frameMs + ms),
    )
    // The contact is recorded as the agent heard it: delayed by the network and its buffer.
    assert.equal(call.heardAtTick.length, contactClicks.size)
    const clicks = [...contactClicks.values()]
    assertSameInstants(
      findClicks(right),
      call.heardAtTick.map((tick, index) => tick * frameMs + (clicks[index] ?? 0)),
    )
    // That delay begins at one frame and is given back in the first pause, because the network never jitters.
    const said = [...contactClicks].map(([frame, ms]) => frame * frameMs + ms)
    const settled = findClicks(right).slice(1)
    assert.equal(call.playoutDelayMs, 0)
    assertSameInstants(
      settled,
      said.slice(1).map((ms) => ms + call.playoutDelayMs),
    )
    assert.equal(call.deafTicks.length, agentClicks.size - 1, 'but for the last they reached them')
  })
})

describe('an hour of recording', { skip: missing ?? false, timeout: 300_000 }, () => {
  it('neither drifts nor grows: every click of its last minute is at its instant', async () => {
    const seconds = 3_600
    const frames = seconds * 50
    const path = join(folder, 'hour.spool')
    const spool = createRecorderSpool(path, {
      version: 1,
      codec: 'pcmu',
      organizationId: 'organization' as OrganizationId,
      callId: 'hour',
      startedAt: '2026-11-20T10:00:00.000Z',
    })
    const [silent, agentClick, contactClick] = [silentFrame(), clickFrame(6), clickFrame(15)]
    // A click each minute, the contact's half a minute later; and one in the first and the last frame of the agent.
    const isAgents = (frame: number): boolean => frame % 3_000 === 0 || frame === frames - 1
    const isContacts = (frame: number): boolean => frame % 3_000 === 1_500
    for (let frame = 0; frame < frames; frame += 1) {
      spool.write(isAgents(frame) ? agentClick : silent, isContacts(frame) ? contactClick : silent)
      // The disk gets the time that a real call gives it.
      if (frame % 500 === 499) await spooled(path, frame + 1)
    }
    const figures = await spool.close()
    assert.deepEqual(
      [figures.framesExpected, figures.framesWritten, figures.framesLost],
      [frames, frames, 0],
    )
    const residentBefore = process.memoryUsage().rss
    const audio = await encodeInThread(path, `${path}.mp3`, signal)
    const grownMb = (process.memoryUsage().rss - residentBefore) / 2 ** 20
    assert.ok(grownMb < 150, `the encoder took ${grownMb.toFixed(0)} MB`)
    assert.equal(audio.durationMs, seconds * 1000)
    assert.equal(audio.peaks.agent.length, seconds * 10)

    const { left, right } = await decodeStereo(`${path}.mp3`)
    assert.equal(left.length, seconds * 8_000)
    const instants = (is: (frame: number) => boolean, ms: number): number[] =>
      Array.from({ length: frames }, (_, frame) => frame)
        .filter(is)
        .map((frame) => frame * frameMs + ms)
    assertSameInstants(findClicks(left), instants(isAgents, 6))
    assertSameInstants(findClicks(right), instants(isContacts, 15))
  })
})

describe(
  'the recording of a call over the sandbox trunk',
  { skip: missing ?? false, timeout: 120_000 },
  () => {
    it('has the words of both sides at the transcript’s times', async () => {
      const rig = await startLiveCallRig({ rtpPorts: { min: 30_000, max: 33_998 } })
      try {
        const call = await rig.dial('+12025550100')
        await rig.run(call)
        const turns = await rig.turns(call)
        assert.ok(turns.length >= 8, `${turns.length} turns`)
        const { left, right } = await decodeStereo(await rig.encode(call))
        const durationMs = left.length / 8
        const onsets = { agent: findOnsets(left), contact: findOnsets(right) }
        for (const { speaker, audioOffsetMs } of turns) {
          assert.ok(speaker !== 'third_party' && audioOffsetMs < durationMs)
          const distanceMs = Math.min(...onsets[speaker].map((ms) => Math.abs(ms - audioOffsetMs)))
          assert.ok(
            distanceMs <= onsetToleranceMs[speaker],
            `a turn of the ${speaker} at ${audioOffsetMs} ms is ${distanceMs} ms from its sound`,
          )
        }
        const firstOfContact =
          turns.find(({ speaker }) => speaker === 'contact')?.audioOffsetMs ?? 0
        assert.ok(
          (onsets.contact[0] ?? 0) > firstOfContact - onsetToleranceMs.contact,
          'the lane of the contact is silent while the agent greets',
        )
        const recording = await findRecordingDetails(rig.db, call)
        const frames = durationMs / frameMs
        assert.ok(recording && 'frames_expected' in recording)
        assert.deepEqual([recording.frames_expected, recording.frames_written], [frames, frames])
      } finally {
        await rig.stop()
      }
    })
  },
)

/** A turn begins with a voiced frame of 20 ms; the contact's speech may begin with a soft consonant. */
const onsetToleranceMs = { agent: 40, contact: 100 } as const

const silenceMs = 160
const voicedLevel = 300

/** Where sound begins after a pause, in milliseconds. */
const findOnsets = (samples: Int16Array): number[] => {
  const found: number[] = []
  let silentSamples = silenceMs * 8
  for (const [at, sample] of samples.entries()) {
    if (Math.abs(sample) < voicedLevel) {
      silentSamples += 1
      continue
    }
    if (silentSamples >= silenceMs * 8) found.push(at / 8)
    silentSamples = 0
  }
  return found
}

/** Until this many frames are in the spool's file, which the recorder writes asynchronously. */
const spooled = (path: string, frames: number): Promise<true> =>
  until(
    'the spool to be written',
    async () => {
      const found = await stat(path).catch(() => undefined)
      return (found?.size ?? 0) >= spoolHeaderBytes + frames * spoolFrameBytes ? true : undefined
    },
    { everyMs: 1 },
  )

const noUsage = { inputTokens: 0, outputTokens: 0, audioInMs: 0, audioOutMs: 0 }

const silentSession = {
  hear: () => undefined,
  say: () => undefined,
  pressed: () => undefined,
  events: (async function* () {})(),
  interrupt: () => undefined,
  toolResult: () => undefined,
  close: async () => noUsage,
}
