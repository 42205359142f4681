import assert from 'node:assert/strict'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { after, describe, it } from 'node:test'
import { decodeG711, encodeG711, g711Silence } from '../audio/g711.ts'
import { dbfsOf } from '../audio/level.ts'
import { sine } from '../audio/tones.ts'
import { createManualTime } from '../../tests/support/manual-time.ts'
import { parseRtpPacket, serializeRtpPacket, type RtpPacket } from './packet.ts'
import { parseRtcp } from './rtcp.ts'
import { openRtpSession } from './rtp-session.ts'
import type { RtpMedia, RtpSession, RtpSessionOptions } from './rtp-session-types.ts'
import { RtpPortsExhaustedError } from './rtp-socket.ts'
import { parseTelephoneEvent } from './telephone-event.ts'

const local = '127.0.0.1'
const open: RtpSession[] = []
const sockets: Socket[] = []

const openSession = async (options: Partial<RtpSessionOptions> = {}): Promise<RtpSession> => {
  const session = await openRtpSession({
    bindAddress: local,
    portRange: { min: 20_000, max: 29_999 },
    ...options,
  })
  open.push(session)
  return session
}

/** A network peer with a raw socket, which follows no rules. */
const openPeer = async (address = local) => {
  const socket = createSocket('udp4')
  sockets.push(socket)
  socket.bind(0, address)
  await once(socket, 'listening')
  let sequenceNumber = 65_530
  return {
    socket,
    remote: { address, port: socket.address().port },
    /** Resolves once the datagram is in the other socket's buffer. */
    send: (session: RtpSession, packet: Partial<RtpPacket> = {}) => {
      sequenceNumber = (sequenceNumber + 1) & 0xffff
      const whole: RtpPacket = {
        marker: false,
        payloadType: 0,
        sequenceNumber,
        timestamp: (sequenceNumber * 160) >>> 0,
        ssrc: 7,
        payload: new Uint8Array(160).fill(sequenceNumber),
        ...packet,
      }
      const bytes = packet.payloadType === -1 ? Uint8Array.of(1, 2, 3) : serializeRtpPacket(whole)
      return new Promise<void>((done) =>
        socket.send(bytes, session.port, session.address, () => done()),
      )
    },
    next: async (): Promise<Uint8Array> => (await once(socket, 'message'))[0] as Uint8Array,
  }
}

const mediaTo = (remote: { address: string; port: number }, more: Partial<RtpMedia> = {}) => ({
  remote,
  codec: 'pcmu' as const,
  payloadType: 0,
  ...more,
})

/**
 * Lets the event loop read its sockets until the count is reached; a packet on loopback has arrived when `send` is
 * done.
 */
const until = async (condition: () => boolean): Promise<void> => {
  const deadline = performance.now() + 30_000
  while (!condition()) {
    if (performance.now() > deadline) throw new Error('nothing came')
    await new Promise((resolve) => setImmediate(resolve))
  }
}

after(async () => {
  await Promise.all(open.map((session) => session.close()))
  for (const socket of sockets) socket.close()
})

describe('an RTP session', () => {
  it('carries a tone to another session', async () => {
    const [left, right] = await Promise.all([openSession(), openSession()])
    left.connect(mediaTo(right))
    right.connect(mediaTo(left))
    const tone = encodeG711('pcmu', sine(440, 1000))
    const heard: Uint8Array[] = []
    for (let i = 0; i < 50; i++) {
      left.send(tone.subarray(i * 160, i * 160 + 160))
      await until(() => right.stats().packetsReceived === i + 1)
      heard.push(right.receive())
    }
    assert.deepEqual(heard[0], g711Silence('pcmu'), 'the buffer waits 20 ms')
    const spoken = Buffer.concat(heard.slice(4, 44))
    assert.ok(Math.abs(dbfsOf(decodeG711('pcmu', spoken)) - dbfsOf(sine(440, 800))) < 0.1)
    assert.deepEqual(
      (({ packetsLost, packetsLate, packetsForeign }) => [
        packetsLost,
        packetsLate,
        packetsForeign,
      ])(right.stats()),
      [0, 0, 0],
    )
  })

  it('encrypts audio, keys and reports once SRTP is agreed, and takes nothing else', async () => {
    const [left, right] = await Promise.all([openSession(), openSession()])
    const stranger = await openPeer()
    const [one, other] = [1, 2].map((byte) => Buffer.alloc(30, byte).toString('base64'))
    const suite = 'AES_CM_128_HMAC_SHA1_80'
    const keys = (ownKey = '', theirKey = '') => ({ srtp: { suite, ownKey, theirKey } }) as const
    const events = { telephoneEventPayloadType: 101 }
    left.connect(mediaTo(right, { ...keys(one, other), ...events }))
    right.connect(mediaTo(left, { ...keys(other, one), ...events }))
    const digits: string[] = []
    right.onDigit((digit) => digits.push(digit))
    left.sendDtmf('7')
    for (let i = 0; i < 30; i++) {
      left.send(encodeG711('pcmu', sine(440, 20)))
      left.receive()
      right.receive()
    }
    await until(() => right.stats().packetsReceived >= 20)
    assert.deepEqual(digits, ['7'])
    for (let i = 0; i < 5; i++) await stranger.send(right)
    await until(() => right.stats().packetsUnauthentic === 5)
    assert.equal(right.stats().packetsForeign, 0)
    for (let i = 0; i < 400; i++) left.receive()
    await until(() => right.stats().silentForMs === 0)
  })

  it('listens on an even port of its range and refuses when all are taken', async () => {
    const one = await openSession({ portRange: { min: 31_001, max: 31_004 } })
    assert.equal(one.port, 31_002)
    await assert.rejects(
      openSession({ portRange: { min: 31_001, max: 31_004 } }),
      RtpPortsExhaustedError,
    )
    await one.close()
    assert.equal((await openSession({ portRange: { min: 31_001, max: 31_004 } })).port, 31_002)
  })

  it('rejects an address of another machine with the system error', async () => {
    await assert.rejects(openSession({ bindAddress: '192.0.2.1' }), { code: 'EADDRNOTAVAIL' })
  })

  it('latches to a port behind a NAT after three packets, sends to it, and drops everyone else', async () => {
    const session = await openSession()
    const [nat, intruder] = await Promise.all([openPeer(), openPeer()])
    session.connect(mediaTo({ address: '10.0.0.9', port: 4000 }, { otherSources: 'any' }))
    for (let i = 0; i < 2; i++) await nat.send(session)
    await until(() => session.stats().packetsForeign === 2)
    assert.equal(session.stats().source, undefined)
    await nat.send(session)
    await until(() => session.stats().packetsReceived === 1)
    assert.deepEqual(session.stats().source, nat.remote)
    const answer = nat.next()
    session.send(g711Silence('pcmu'))
    assert.equal(parseRtpPacket(await answer)?.payload.length, 160)
    for (let i = 0; i < 5; i++) await intruder.send(session, { ssrc: 7 })
    await until(() => session.stats().packetsForeign === 7)
    assert.deepEqual(session.stats().source, nat.remote)
  })

  it('accepts no audio, key or report of a stranger, whatever the stranger knows', async () => {
    const session = await openSession()
    const stranger = await openPeer('127.0.0.2')
    const digits: string[] = []
    session.onDigit((digit) => digits.push(digit))
    session.connect(mediaTo({ address: local, port: 4000 }, { telephoneEventPayloadType: 101 }))
    for (let i = 0; i < 5; i++) await stranger.send(session)
    const pressed = Uint8Array.of(5, 0x8a, 0, 160)
    for (let i = 0; i < 5; i++)
      await stranger.send(session, { payloadType: 101, payload: pressed, timestamp: 160 })
    await until(() => session.stats().packetsForeign === 10)
    assert.equal(session.stats().packetsReceived, 0)
    assert.deepEqual(digits, [])
    assert.deepEqual(session.receive(), g711Silence('pcmu'))
  })

  it('sends a digit as one event with a marker and three ends, instead of audio', async () => {
    const session = await openSession()
    const peer = await openPeer()
    session.connect(mediaTo(peer.remote, { telephoneEventPayloadType: 101 }))
    session.sendDtmf('5')
    const packets: RtpPacket[] = []
    peer.socket.on('message', (bytes) => packets.push(parseRtpPacket(bytes)!))
    for (let tick = 0; tick < 20; tick++) session.send(g711Silence('pcmu'))
    await until(() => packets.length === 15)
    const events = packets.filter(({ payloadType }) => payloadType === 101)
    assert.deepEqual(
      events.map(({ payload }) => parseTelephoneEvent(payload)!.duration),
      [160, 320, 480, 640, 800, 800, 800, 800],
    )
    assert.deepEqual(
      events.map(({ payload }) => parseTelephoneEvent(payload)!.end),
      [false, false, false, false, false, true, true, true],
    )
    assert.equal(new Set(events.map(({ timestamp }) => timestamp)).size, 1)
    assert.deepEqual(
      events.map(({ marker }) => marker),
      [true, ...Array.from({ length: 7 }, () => false)],
    )
    assert.equal(packets[8]!.payloadType, 0, 'audio goes on after the pause')
    assert.equal(packets[8]!.marker, true)
  })

  it('reports a pressed digit once', async () => {
    const session = await openSession()
    const peer = await openPeer()
    session.connect(mediaTo(peer.remote, { telephoneEventPayloadType: 96 }))
    const digits: string[] = []
    session.onDigit((digit) => digits.push(digit))
    const press = { payloadType: 96, timestamp: 1000, payload: Uint8Array.of(11, 10, 0, 160) }
    for (let i = 0; i < 3; i++) await peer.send(session, press)
    await peer.send(session, { ...press, timestamp: 5000, payload: Uint8Array.of(1, 0x8a, 3, 32) })
    await until(() => session.stats().packetsReceived === 4)
    assert.deepEqual(digits, ['#', '1'])
  })

  it('plays digits as tones to a peer without events', async () => {
    const session = await openSession()
    const peer = await openPeer()
    session.connect(mediaTo(peer.remote))
    session.sendDtmf('x1')
    const first = peer.next()
    session.send(g711Silence('pcmu'))
    assert.ok(dbfsOf(decodeG711('pcmu', parseRtpPacket(await first)!.payload)) > -20)
  })

  it('neither sends nor receives on hold, keeps the address through 0.0.0.0, and resumes with a marker', async () => {
    const session = await openSession()
    const peer = await openPeer()
    session.connect(mediaTo(peer.remote))
    session.setDirection('inactive')
    session.connect(mediaTo({ address: '0.0.0.0', port: 9 }))
    session.send(g711Silence('pcmu'))
    await peer.send(session)
    await until(() => session.stats().packetsReceived === 1)
    for (let i = 0; i < 4; i++) assert.deepEqual(session.receive(), g711Silence('pcmu'))
    session.setDirection('sendrecv')
    const resumed = peer.next()
    session.send(g711Silence('pcmu'))
    assert.equal(parseRtpPacket(await resumed)?.marker, true)
    assert.equal(session.stats().packetsSent, 1)
  })

  it('understands the other law and counts other payload types', async () => {
    const session = await openSession()
    const peer = await openPeer()
    session.connect(mediaTo(peer.remote))
    const loud = encodeG711('pcma', sine(440, 20))
    await peer.send(session, { payloadType: 8, payload: loud })
    await peer.send(session, { payloadType: 97 })
    await peer.send(session, { payloadType: -1 })
    await until(() => session.stats().packetsMalformed === 2)
    session.receive()
    session.receive()
    assert.ok(dbfsOf(decodeG711('pcmu', session.receive())) > -20)
  })

  it('switches to a new SSRC with its second packet', async () => {
    const session = await openSession()
    const peer = await openPeer()
    session.connect(mediaTo(peer.remote))
    for (let i = 0; i < 3; i++) await peer.send(session)
    for (let i = 0; i < 2; i++) await peer.send(session, { ssrc: 8 })
    await until(() => session.stats().packetsReceived === 4)
    assert.equal(session.stats().resyncs, 1)
  })

  it('measures the silence, and restarts with the next packet', async () => {
    const session = await openSession()
    const peer = await openPeer()
    session.connect(mediaTo(peer.remote))
    for (let i = 0; i < 50; i++) session.receive()
    assert.equal(session.stats().silentForMs, 1000)
    await peer.send(session)
    await until(() => session.stats().silentForMs === 0)
  })

  it('exchanges RTCP: reports every few seconds, learns loss and round trip, says goodbye', async () => {
    const clock = createManualTime(new Date('2026-01-01T00:00:00Z'))
    const ports = { bindAddress: local, portRange: { min: 20_000, max: 29_999 } }
    const [left, right] = [await openRtpSession(ports, clock), await openRtpSession(ports, clock)]
    open.push(left, right)
    left.connect(mediaTo(right))
    right.connect(mediaTo(left))
    for (let tick = 0; tick < 2_000 && left.stats().reported?.roundTripMs === undefined; tick++) {
      left.send(g711Silence('pcmu'))
      right.send(g711Silence('pcmu'))
      await until(
        () =>
          right.stats().packetsReceived === tick + 1 && left.stats().packetsReceived === tick + 1,
      )
      clock.advance(20)
      left.receive()
      right.receive()
      await new Promise((resolve) => setImmediate(resolve))
    }
    const { reported } = left.stats()
    assert.equal(reported?.packetsLost, 0)
    assert.ok(reported.roundTripMs! >= 0 && reported.roundTripMs! <= 40, `${reported.roundTripMs}`)
  })

  it('sends RTCP BYE when it closes, and closing twice is safe', async () => {
    const session = await openSession()
    const rtcp = await openPeer()
    session.connect(mediaTo({ address: local, port: rtcp.remote.port - 1 }))
    const farewell = rtcp.next()
    await Promise.all([session.close(), session.close()])
    const types = parseRtcp(await farewell)!.map(({ type }) => type)
    assert.deepEqual(types, ['receiver_report', 'source_description', 'bye'])
  })
})
