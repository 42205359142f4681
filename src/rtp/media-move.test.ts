import assert from 'node:assert/strict'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { decodeG711, g711Silence } from '../audio/g711.ts'
import { energyOf } from '../audio/level.ts'
import { serializeRtpPacket } from './packet.ts'
import { openRtpSession } from './rtp-session.ts'
import type { RtpSession } from './rtp-session-types.ts'

/** Both sides hear each other 300 ms after the first packet of the new place: 15 ticks. */
const limitTicks = 15
const oldByte = 0x10
const newByte = 0x20

const sockets: Socket[] = []
const sessions: RtpSession[] = []

after(async () => {
  await Promise.all(sessions.map((session) => session.close()))
  for (const socket of sockets) socket.close()
})

const openPlace = async (ssrc: number, byte: number, address = '127.0.0.1') => {
  const socket = createSocket('udp4')
  sockets.push(socket)
  socket.bind(0, address)
  await once(socket, 'listening')
  let received = 0
  socket.on('message', () => (received += 1))
  let sequenceNumber = ssrc
  return {
    remote: { address, port: socket.address().port },
    received: () => received,
    /** Its next packet follows this one. */
    continueFrom: (sequence: number) => (sequenceNumber = sequence),
    sequence: () => sequenceNumber,
    send: (session: RtpSession) => {
      sequenceNumber += 1
      const payload = new Uint8Array(160).fill(byte)
      const timestamp = sequenceNumber * 160
      const packet = { marker: false, payloadType: 0, sequenceNumber, timestamp, ssrc, payload }
      return new Promise<void>((done) =>
        socket.send(serializeRtpPacket(packet), session.port, session.address, () => done()),
      )
    },
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Lets the event loop read its sockets: this many packets were accepted or dropped in all. */
const untilSeen = async (session: RtpSession, count: number): Promise<void> => {
  const deadline = performance.now() + 60_000
  for (;;) {
    const { packetsReceived, packetsForeign } = session.stats()
    if (packetsReceived + packetsForeign >= count) return
    if (performance.now() > deadline) throw new Error(`${count} packets did not come`)
    await turn()
  }
}

for (const place of ['the address of the SDP', 'a NAT'] as const) {
  for (const inFlight of [0, 1, 5, 20]) {
    test(`a signalled move to ${place} with ${inFlight} packets in flight is heard within 300 ms`, async () => {
      const session = await openRtpSession({
        bindAddress: '127.0.0.1',
        portRange: { min: 20_000, max: 29_998 },
      })
      sessions.push(session)
      const isNat = place === 'a NAT'
      const [before, next] = await Promise.all([openPlace(1, oldByte), openPlace(900, newByte)])
      const mediaAt = (remote: { address: string; port: number }) => ({
        remote: isNat ? { address: '10.0.0.9', port: remote.port } : remote,
        ...(isNat && { otherSources: ['127.0.0.1'] }),
        codec: 'pcmu' as const,
        payloadType: 0,
      })
      session.connect(mediaAt(before.remote))
      let seen = 0
      const tick = async (...from: (typeof before)[]): Promise<Uint8Array> => {
        for (const each of from) await each.send(session)
        await untilSeen(session, (seen += from.length))
        session.send(g711Silence('pcmu'))
        return session.receive()
      }
      for (let count = 0; count < 50; count += 1) await tick(before)

      session.connect(mediaAt(next.remote))
      const heard: Uint8Array[] = []
      for (let count = 0; count < limitTicks; count += 1) {
        const late = count < inFlight ? [before] : []
        heard.push(await tick(...late, next))
      }
      assert.equal(heard.at(-1)?.[80], newByte, 'the new place is not heard')
      const firstNew = heard.findIndex((frame) => frame[80] === newByte)
      assert.ok(
        heard.slice(firstNew).every((frame) => frame[80] !== oldByte),
        'the old place is heard after the new one',
      )
      assert.deepEqual(session.stats().source, next.remote)
      while (next.received() === 0) await turn()
    })
  }
}

test('another stream from another port of the NAT is followed after two seconds; a forged stream is never heard', async () => {
  const session = await openRtpSession({
    bindAddress: '127.0.0.1',
    portRange: { min: 20_000, max: 29_998 },
  })
  sessions.push(session)
  const [before, rebound] = await Promise.all([openPlace(1, oldByte), openPlace(1, newByte)])
  const forger = await openPlace(1, 0x30, '127.0.0.2')
  session.connect({ remote: before.remote, codec: 'pcmu', payloadType: 0 })
  let seen = 0
  const heard: Uint8Array[] = []
  const tick = async (...from: (typeof before)[]): Promise<void> => {
    for (const each of from) await each.send(session)
    await untilSeen(session, (seen += from.length))
    heard.push(session.receive())
  }
  for (let count = 0; count < 50; count += 1) await tick(before, forger, rebound)
  assert.ok(heard.every((frame) => frame[80] !== newByte))
  heard.length = 0
  for (let count = 0; count < 110; count += 1) await tick(forger, rebound)
  assert.equal(heard.at(-1)?.[80], newByte)
  assert.deepEqual(session.stats().source, rebound.remote)
  assert.ok(heard.every((frame) => energyOf(decodeG711('pcmu', frame)) === 0 || frame[80] !== 0x30))
})

test('a stream that goes on from another port of its NAT is heard within 300 ms, and no forged one', async () => {
  const session = await openRtpSession({
    bindAddress: '127.0.0.1',
    portRange: { min: 20_000, max: 29_998 },
  })
  sessions.push(session)
  const ssrc = 1
  const [before, rebound] = await Promise.all([openPlace(ssrc, oldByte), openPlace(ssrc, newByte)])
  const forgers = await Promise.all([
    openPlace(2, 0x30),
    openPlace(ssrc, 0x30),
    openPlace(ssrc, 0x30, '127.0.0.2'),
  ])
  session.connect({ remote: before.remote, codec: 'pcmu', payloadType: 0 })
  let seen = 0
  const heard: Uint8Array[] = []
  const tick = async (...from: (typeof before)[]): Promise<void> => {
    for (const each of from) await each.send(session)
    await untilSeen(session, (seen += from.length))
    session.send(g711Silence('pcmu'))
    heard.push(session.receive())
  }
  // The same SSRC from the same address, but of other sequence numbers; and the right ones from another address.
  forgers[1]!.continueFrom(30_000)
  for (let count = 0; count < 50; count += 1) await tick(before, ...forgers)
  forgers[2]!.continueFrom(before.sequence())
  rebound.continueFrom(before.sequence())
  heard.length = 0
  for (let count = 0; count < limitTicks; count += 1) await tick(...forgers, rebound)
  assert.equal(heard.at(-1)?.[80], newByte, 'the new port is not heard')
  assert.ok(heard.every((frame) => frame[80] !== 0x30))
  assert.deepEqual(session.stats().source, rebound.remote)
  while (rebound.received() === 0) await turn()
  assert.ok(forgers.every((forger) => forger.received() === 0))
})

test('RTCP of the other side is life without audio', async () => {
  const [left, right] = await Promise.all(
    [0, 1].map(() =>
      openRtpSession({ bindAddress: '127.0.0.1', portRange: { min: 20_000, max: 29_998 } }),
    ),
  )
  if (!left || !right) assert.fail()
  sessions.push(left, right)
  left.connect({ remote: right, codec: 'pcmu', payloadType: 0 })
  right.connect({ remote: left, codec: 'pcmu', payloadType: 0 })
  for (let count = 0; count < 100; count += 1) left.receive()
  assert.equal(left.stats().silentForMs, 2_000)
  const deadline = performance.now() + 60_000
  // The other side reports at most 7.5 s of its ticks apart.
  for (let count = 0; count < 400; count += 1) right.receive()
  while (left.stats().silentForMs > 0 && performance.now() < deadline) await turn()
  assert.deepEqual([left.stats().silentForMs, left.stats().withoutAudioMs], [0, 2_000])
})
