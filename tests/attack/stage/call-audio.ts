import { randomInt } from 'node:crypto'
import { calleeFrame, hear, rtpPacket, telephoneEvent, type Heard } from './marked-audio.ts'
import { openUdpPeer, type UdpPeer } from './udp-peer.ts'

/** The callee's RTP of one call. */
export interface CallAudio {
  readonly peer: UdpPeer
  /** The destination in the product's SDP. */
  readonly remote: { readonly address: string; readonly port: number }
  readonly ssrc: number
  /** Of the next packet. */
  readonly sequence: number
  readonly timestamp: number
  /** Our SDP. */
  readonly description: string
  /** Packets received from the product. */
  readonly heard: Heard
  /** Each source address and port of packets. */
  readonly sources: ReadonlySet<string>
  start(): void
  /** Presses a key (RFC 4733). */
  press(key: number): Promise<void>
  close(): void
}

const frameMs = 20
const samplesPerFrame = 160
const eventType = 101

export const openCallAudio = async (address: string, offer: string): Promise<CallAudio> => {
  const peer = await openUdpPeer(address)
  const remote = {
    address: /^c=IN IP4 (\S+)/m.exec(offer)?.[1] ?? '',
    port: Number(/^m=audio (\d+)/m.exec(offer)?.[1] ?? 0),
  }
  const ssrc = randomInt(2 ** 32)
  const heard: Heard = { callee: 0, agent: 0, stranger: 0 }
  const sources = new Set<string>()
  let sequence = randomInt(30_000)
  let timestamp = randomInt(2 ** 31)
  let timer: NodeJS.Timeout | undefined
  let sent = 0
  let startedMs = 0

  peer.onMessage((data, from) => {
    sources.add(`${from.address}:${from.port}`)
    if (data.length > 12 && ((data[1] ?? 0) & 0x7f) === 0) hear(data.subarray(12), heard)
  })

  const sendPacket = (type: number, payload: Uint8Array): void => {
    void peer.send(rtpPacket(type, sequence, timestamp, ssrc, payload), remote.port, remote.address)
    sequence += 1
  }

  /** As many frames as time has passed, so that a busy harness does not slow the callee's clock. */
  const tick = (): void => {
    const due = Math.floor((performance.now() - startedMs) / frameMs)
    for (let burst = 0; sent < due && burst < 10; sent += 1, burst += 1) {
      sendPacket(0, calleeFrame)
      timestamp += samplesPerFrame
    }
    sent = Math.max(sent, due)
  }

  return {
    peer,
    remote,
    ssrc,
    get sequence() {
      return sequence
    },
    get timestamp() {
      return timestamp
    },
    description: [
      'v=0',
      `o=- 1 1 IN IP4 ${address}`,
      's=-',
      `c=IN IP4 ${address}`,
      't=0 0',
      `m=audio ${peer.port} RTP/AVP 0 ${eventType}`,
      'a=rtpmap:0 PCMU/8000',
      `a=rtpmap:${eventType} telephone-event/8000`,
      'a=ptime:20',
      '',
    ].join('\r\n'),
    heard,
    sources,
    start: () => {
      if (timer) return
      startedMs = performance.now()
      timer = setInterval(tick, frameMs)
    },
    press: async (key) => {
      for (const [isEnd, duration] of [
        [false, 400],
        [false, 800],
        [true, 1200],
        [true, 1200],
        [true, 1200],
      ] as const)
        sendPacket(eventType, telephoneEvent(key, isEnd, duration))
      await Promise.resolve()
    },
    close: () => {
      clearInterval(timer)
      peer.close()
    },
  }
}
