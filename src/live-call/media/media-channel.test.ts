import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { encodeG711, g711Silence, transcodeG711 } from '../../audio/g711.ts'
import { dtmfTone } from '../../audio/tones.ts'
import type { ConversationOptions } from '../../conversation/loop/conversation-types.ts'
import type { VoiceSession } from '../../conversation/engine/voice-engine.ts'
import { silentLogger } from '../../runtime/logger.ts'
import type { RtpMedia, RtpSession, RtpStats } from '../../rtp/rtp-session-types.ts'
import type { NegotiatedMedia } from '../../telephony/carrier.ts'
import { fakePlan, pcmuMedia } from '../../../tests/support/live-call/fake-call.ts'
import { MediaChannel, type LiveConversation } from './media-channel.ts'
import type { ConversationPlan, MediaEvent, RecordingTarget } from './media-protocol.ts'
import { spoolFrameBytes, spoolHeaderBytes } from '../recording/spool-format.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

const usage = { inputTokens: 1, outputTokens: 2, audioInMs: 3, audioOutMs: 4 }
const heardByte = 0x11
const saidByte = 0x22

/** A channel whose ticks, packets and conversation the test controls. */
const createRig = (openSession?: () => Promise<VoiceSession>) => {
  const events: MediaEvent[] = []
  const log: string[] = []
  const sent: Uint8Array[] = []
  const opened = Promise.withResolvers<ConversationOptions>()
  let frames: Uint8Array[] = []
  let stats: Partial<RtpStats> = {}
  let connected: RtpMedia | undefined
  let runTick: (() => void) | undefined
  let failTick: ((error: unknown) => void) | undefined
  let digit: (digit: string) => void = () => undefined

  const session: VoiceSession = {
    hear: () => undefined,
    say: () => undefined,
    pressed: () => undefined,
    events: (async function* () {})(),
    interrupt: () => undefined,
    toolResult: () => undefined,
    close: async () => {
      log.push('session closed')
      return usage
    },
  }
  const rtp: RtpSession = {
    address: '127.0.0.1',
    port: 30_000,
    connect: (media) => {
      connected = media
    },
    send: (frame) => sent.push(frame.slice()),
    receive: () => frames.shift() ?? new Uint8Array(160).fill(heardByte),
    sendDtmf: (digits) => log.push(`dtmf ${digits}`),
    onDigit: (listener) => {
      digit = listener
    },
    setDirection: (direction) => log.push(direction),
    stats: () =>
      ({
        packetsSent: 5,
        packetsReceived: 6,
        packetsLost: 1,
        silentForMs: 0,
        ...stats,
      }) as RtpStats,
    close: async () => {
      log.push('rtp closed')
    },
  }
  const conversation: LiveConversation = {
    tick: (heard) => {
      log.push(`heard ${heard[0]}`)
      return new Uint8Array(160).fill(saidByte)
    },
    heardDigit: (pressed) => log.push(`digit ${pressed}`),
    hold: (isHeld) => log.push(isHeld ? 'hold' : 'no hold'),
    agentWords: () => undefined,
    finish: async () => {
      log.push('conversation finished')
      return { optedOut: false, voicemail: 'none', usage, reportedOutcome: 'achieved' }
    },
  }
  const channel: MediaChannel = new MediaChannel({
    callId: 'call',
    rtp,
    ticker: {
      add: (tick, onError) => {
        runTick = tick
        failTick = onError
        return () => (runTick = undefined)
      },
      lateness: () => ({ p50Ms: 0, p99Ms: 0, maxMs: 0, count: 0 }),
      framesSkipped: 0,
      size: 1,
      stop: () => undefined,
    },
    openEngine: () => ({ name: 'fake', open: openSession ?? (async () => session) }),
    openVoiceActivity: async () => ({
      isVoiced: () => false,
      close: () => log.push('detector closed'),
    }),
    createConversation: (options) => {
      opened.resolve(options)
      return conversation
    },
    post: (event) => events.push(event),
    logger: silentLogger,
  })
  return {
    channel,
    events,
    log,
    sent,
    conversation: opened.promise,
    connected: () => connected,
    isTicking: () => runTick !== undefined,
    tick: (times: number) => {
      for (let count = 0; count < times; count += 1) runTick?.()
    },
    failTick: (error: unknown) => failTick?.(error),
    press: (pressed: string) => digit(pressed),
    play: (next: Uint8Array[]) => {
      frames = next
    },
    setStats: (changes: Partial<RtpStats>) => {
      stats = changes
    },
  }
}

describe('media channel', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'outdial-channel-'))
  })
  after(() => rm(folder, { recursive: true }))

  const target = (name: string): RecordingTarget => ({
    path: join(folder, name),
    organizationId: 'organization' as OrganizationId,
    startedAt: '2026-11-20T10:00:00.000Z',
  })
  const startTalking = async (plan: ConversationPlan = fakePlan) => {
    const rig = createRig()
    rig.channel.prepare(plan)
    rig.channel.start(pcmuMedia, undefined)
    return { ...rig, options: await rig.conversation }
  }

  it('sends the conversation’s audio, and records both sides', async () => {
    const rig = createRig()
    rig.channel.prepare(fakePlan)
    rig.channel.start(pcmuMedia, target('both.spool'))
    await rig.conversation
    rig.tick(3)
    const report = await rig.channel.stop()
    assert.deepEqual(
      rig.sent.map(([first]) => first),
      [saidByte, saidByte, saidByte],
    )
    assert.deepEqual(report, {
      durationMs: 60,
      recordingPath: join(folder, 'both.spool'),
      framesLost: 0,
      usage,
      reportedOutcome: 'achieved',
      rtp: { packetsSent: 5, packetsReceived: 6, packetsLost: 1 },
      quality: report.quality,
    })
    assert.deepEqual(
      report.quality.map(({ direction, packets }) => [direction, packets]),
      [
        ['from_callee', 6],
        ['to_callee', 5],
      ],
    )
    const audio = (await readFile(join(folder, 'both.spool'))).subarray(spoolHeaderBytes)
    assert.equal(audio.length, 3 * spoolFrameBytes)
    assert.deepEqual([audio[0], audio[1]], [saidByte, heardByte])
    assert.equal(rig.isTicking(), false)
    assert.equal(rig.log.at(-1), 'rtp closed')
  })

  it('converts the line’s A-law to mu-law for the engine, and back', async () => {
    const rig = createRig()
    rig.channel.prepare(fakePlan)
    rig.channel.start({ ...pcmuMedia, codec: 'pcma', payloadType: 8 }, undefined)
    await rig.conversation
    rig.tick(1)
    assert.equal(
      rig.log.at(-1),
      `heard ${transcodeG711('pcma', 'pcmu', new Uint8Array([heardByte]))[0]}`,
    )
    assert.equal(rig.sent[0]?.[0], transcodeG711('pcmu', 'pcma', new Uint8Array([saidByte]))[0])
    await rig.channel.stop()
  })

  it('includes the time before the engine was ready in the offsets of turns', async () => {
    const engine = Promise.withResolvers<void>()
    const session = { close: async () => usage } as unknown as VoiceSession
    const rig = createRig(() => engine.promise.then(() => session))
    rig.channel.prepare(fakePlan)
    rig.channel.start(pcmuMedia, undefined)
    rig.tick(10)
    assert.deepEqual(rig.sent[0], g711Silence('pcmu'))
    engine.resolve()
    const { listener } = await rig.conversation
    listener.onTurn({ sequence: 1, speaker: 'agent', text: 'Hello.', audioOffsetMs: 40 })
    assert.deepEqual(rig.events, [
      { type: 'turn', turn: { sequence: 1, speaker: 'agent', text: 'Hello.', audioOffsetMs: 240 } },
    ])
    await rig.channel.stop()
  })

  it('breaks down when the engine is not ready five seconds after the answer', async () => {
    const rig = createRig(
      () => new Promise((_resolve, reject) => setImmediate(() => reject(new Error('late')))),
    )
    rig.channel.start(pcmuMedia, undefined)
    rig.tick(249)
    assert.deepEqual(rig.events, [])
    rig.tick(1)
    assert.deepEqual(rig.events, [
      { type: 'breakdown', reason: 'The voice engine was not ready in time.' },
    ])
    await rig.channel.stop()
  })

  it('breaks down once when the engine is unreachable', async () => {
    const rig = createRig(() => Promise.reject(new Error('refused')))
    rig.channel.prepare(fakePlan)
    rig.channel.start(pcmuMedia, undefined)
    await new Promise((resolve) => setImmediate(resolve))
    rig.tick(300)
    assert.deepEqual(rig.events, [
      { type: 'breakdown', reason: 'The voice engine could not be reached.' },
    ])
    await rig.channel.stop()
  })

  it('passes on the findings of the conversation', async () => {
    const { options, events, log, channel } = await startTalking()
    options.listener.onOptOut()
    options.listener.onVoicemail(true)
    options.listener.onDtmf('12#')
    options.listener.onHangUp('agent_ended')
    assert.deepEqual(events, [
      { type: 'opted_out' },
      { type: 'voicemail', messageLeft: true },
      { type: 'hang_up', reason: 'agent_ended' },
    ])
    assert.ok(log.includes('dtmf 12#'))
    await channel.stop()
  })

  it('breaks down when the engine failed or the loop threw', async () => {
    const failed = await startTalking()
    failed.options.listener.onHangUp('engine_failed')
    assert.deepEqual(failed.events, [
      { type: 'breakdown', reason: 'The voice engine failed during the call.' },
    ])
    await failed.channel.stop()
    const threw = await startTalking()
    threw.failTick(new Error('bug'))
    assert.equal(threw.events[0]?.type, 'breakdown')
    await threw.channel.stop()
  })

  it('reports thirty silent seconds once, but not while on hold', async () => {
    const { channel, tick, setStats, events, log } = await startTalking()
    tick(1500)
    setStats({ silentForMs: 29_999 })
    tick(50)
    assert.deepEqual(events, [])
    channel.updateMedia({ ...pcmuMedia, direction: 'recvonly' })
    setStats({ silentForMs: 60_000 })
    tick(2000)
    assert.deepEqual(events, [])
    channel.updateMedia(pcmuMedia)
    tick(1400)
    assert.deepEqual(events, [])
    tick(200)
    assert.deepEqual(events, [{ type: 'media_silence' }])
    assert.deepEqual(
      log.filter((entry) => entry.endsWith('v') || entry.endsWith('only')),
      ['sendrecv', 'recvonly', 'sendrecv'],
    )
    await channel.stop()
  })

  it('neither hears nor records music on hold', async () => {
    const rig = createRig()
    rig.channel.prepare(fakePlan)
    rig.channel.start(pcmuMedia, target('held.spool'))
    await rig.conversation
    rig.tick(1)
    rig.channel.updateMedia({ ...pcmuMedia, direction: 'recvonly' })
    rig.tick(1)
    rig.channel.updateMedia(pcmuMedia)
    rig.tick(16)
    await rig.channel.stop()
    const silence = g711Silence('pcmu')[0]
    assert.deepEqual(
      rig.log.filter((entry) => entry.startsWith('heard') || entry.endsWith('hold')),
      [
        'no hold',
        `heard ${heardByte}`,
        'hold',
        `heard ${silence}`,
        'no hold',
        // The end of the music may still be on its way.
        ...Array.from({ length: 15 }, () => `heard ${silence}`),
        `heard ${heardByte}`,
      ],
    )
    const audio = (await readFile(join(folder, 'held.spool'))).subarray(spoolHeaderBytes)
    assert.deepEqual(
      [0, 1, 2, 17].map((frame) => audio[frame * spoolFrameBytes + 1]),
      [heardByte, silence, silence, heardByte],
    )
  })

  it('pauses a conversation that begins while the line is held', async () => {
    const rig = createRig()
    rig.channel.prepare(fakePlan)
    rig.channel.start({ ...pcmuMedia, direction: 'inactive' }, undefined)
    await rig.conversation
    rig.tick(1)
    assert.deepEqual(
      rig.log.filter((entry) => entry.endsWith('hold')),
      ['hold'],
    )
    await rig.channel.stop()
  })

  it('sends keys by signalling where the trunk takes them so', async () => {
    const { options, events, channel, log } = await startTalking()
    channel.updateMedia({ ...pcmuMedia, dtmf: 'info' })
    options.listener.onDtmf('12#')
    assert.deepEqual(events, [{ type: 'send_digits', digits: '12#' }])
    channel.updateMedia({ ...pcmuMedia, dtmf: 'inband' })
    options.listener.onDtmf('3')
    assert.ok(log.includes('dtmf 3'))
    await channel.stop()
  })

  it('hears keys as tones where the line has no telephone-event', async () => {
    const { channel, tick, play, events } = await startTalking()
    const hear = (media: NegotiatedMedia): void => {
      channel.updateMedia(media)
      const bytes = encodeG711('pcmu', dtmfTone('8')!)
      play(Array.from({ length: 5 }, (_, at) => bytes.subarray(at * 160, at * 160 + 160)))
      tick(10)
    }
    hear({ ...pcmuMedia, telephoneEventPayloadType: 101 })
    assert.deepEqual(events, [])
    hear(pcmuMedia)
    assert.deepEqual(events, [{ type: 'dtmf', digit: '8' }])
    await channel.stop()
  })

  it('tells within five seconds that audio goes one way only, once for each direction', async () => {
    const { channel, tick, setStats, events } = await startTalking()
    channel.updateMedia({ ...pcmuMedia, direction: 'recvonly' })
    setStats({ withoutAudioMs: 5_000 })
    tick(50)
    channel.updateMedia(pcmuMedia)
    setStats({ withoutAudioMs: 3_980 })
    tick(50)
    assert.deepEqual(events, [])
    setStats({ withoutAudioMs: 4_000 })
    tick(50)
    assert.deepEqual(events, [{ type: 'one_way_audio', missing: 'from_callee' }])
    setStats({ reported: { fractionLost: 1, packetsLost: 100, jitterMs: 0 } })
    tick(100)
    assert.deepEqual(events.slice(1), [{ type: 'one_way_audio', missing: 'to_callee' }])
    await channel.stop()
  })

  it('passes pressed digits to the conversation', async () => {
    const { press, log, events, channel } = await startTalking()
    press('5')
    channel.pressed('6')
    assert.deepEqual(events, [
      { type: 'dtmf', digit: '5' },
      { type: 'dtmf', digit: '6' },
    ])
    assert.ok(log.includes('digit 5') && log.includes('digit 6'))
    await channel.stop()
  })

  it('requests a transfer only if the plan names a target, and passes the result on', async () => {
    const alone = await startTalking()
    assert.equal('transfer' in alone.options.listener, false)
    await alone.channel.stop()
    const { options, events, channel } = await startTalking({
      ...fakePlan,
      transferTo: '+12025550177',
    })
    const result = options.listener.transfer?.()
    assert.deepEqual(events, [{ type: 'transfer' }])
    channel.transferSettled({ transferred: true })
    assert.deepEqual(await result, { transferred: true })
    await channel.stop()
  })

  it('reports a machine that answered instead of a person', async () => {
    const { options, events, channel } = await startTalking()
    options.listener.onNobody('busy')
    assert.deepEqual(events, [{ type: 'nobody', kind: 'busy' }])
    await channel.stop()
  })

  it('refuses a tool that the agent lacks', async () => {
    const { options, events, channel } = await startTalking()
    await assert.rejects(options.listener.runTool?.('unknown', {}) ?? Promise.resolve())
    assert.deepEqual(events, [])
    await channel.stop()
  })

  it('reports a failed tool', async () => {
    const httpTools = [{ name: 'look_up', method: 'GET', url: 'http://127.0.0.1:9/' }] as const
    const { options, events, channel } = await startTalking({ ...fakePlan, httpTools })
    await assert.rejects(
      options.listener.runTool?.('look_up', {}) ?? Promise.resolve(),
      /private network/,
    )
    assert.deepEqual(events, [{ type: 'tool_used', name: 'look_up', ok: false }])
    await channel.stop()
  })

  it('closes the engine of a call that was never answered', async () => {
    const rig = createRig()
    rig.channel.prepare(fakePlan)
    const report = await rig.channel.stop()
    assert.equal(report.durationMs, 0)
    assert.deepEqual(rig.log, ['detector closed', 'session closed', 'rtp closed'])
    assert.deepEqual(rig.events, [])
  })
})
