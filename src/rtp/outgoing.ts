import { randomBytes } from 'node:crypto'
import { encodeG711, g711FrameBytes, type G711Codec } from '../audio/g711.ts'
import { dtmfTone, joinSamples, silence } from '../audio/tones.ts'
import { serializeRtpPacket } from './packet.ts'
import type { RtpMedia } from './rtp-session-types.ts'
import { createDigitSender, maxQueuedDigits } from './telephone-event.ts'

/** Our side of the stream: numbers packets, keeps the sample clock, sends digits instead of audio. */
export interface Outgoing {
  readonly ssrc: number
  connect(media: RtpMedia): void
  sendDtmf(digits: string): void
  /** The packet for this 20 ms; `undefined` if nothing is to be sent. The clock advances in any case. */
  next(frame: Uint8Array, maySend: boolean): Uint8Array | undefined
  readonly timestamp: number
  readonly packets: number
  /** Payload bytes only, as RTCP counts them. */
  readonly octets: number
}

export const createOutgoing = (): Outgoing => {
  const random = randomBytes(12)
  const ssrc = random.readUInt32BE(0)
  // Random start values make known-plaintext attacks on SRTP harder (RFC 3550 section 5.1).
  let timestamp = random.readUInt32BE(4)
  let sequenceNumber = random.readUInt16BE(8)
  let packets = 0
  let octets = 0
  let media: RtpMedia | undefined
  /** A pause ends with a marker: the other side may adapt its playout there (RFC 3551 4.1). */
  let isTalkSpurt = false
  const events = createDigitSender()
  const tones: Uint8Array[] = []

  const packet = (
    payloadType: number,
    payload: Uint8Array,
    at: number,
    marker: boolean,
  ): Uint8Array => {
    sequenceNumber = (sequenceNumber + 1) & 0xffff
    packets++
    octets += payload.length
    return serializeRtpPacket({ marker, payloadType, sequenceNumber, timestamp: at, ssrc, payload })
  }

  const nextEvent = (payloadType: number): Uint8Array | undefined => {
    isTalkSpurt = false
    const event = events.next()
    if (!event) return undefined
    const start = (timestamp - event.samplesSinceStart) >>> 0
    return packet(payloadType, event.payload, start, event.marker)
  }

  const nextPacket = (frame: Uint8Array, { payloadType, ...rest }: RtpMedia) => {
    if (events.isSending && rest.telephoneEventPayloadType !== undefined) {
      return nextEvent(rest.telephoneEventPayloadType)
    }
    const marker = !isTalkSpurt
    isTalkSpurt = true
    return packet(payloadType, tones.shift() ?? frame, timestamp, marker)
  }

  return {
    ssrc,
    connect(next) {
      media = next
    },
    sendDtmf(digits) {
      if (media?.telephoneEventPayloadType !== undefined) events.queue(digits)
      else if (media) queueTones(tones, media.codec, digits)
    },
    next(frame, maySend) {
      timestamp = (timestamp + g711FrameBytes) >>> 0
      if (media && maySend) return nextPacket(frame, media)
      isTalkSpurt = false
      return undefined
    },
    get timestamp() {
      return timestamp
    },
    get packets() {
      return packets
    },
    get octets() {
      return octets
    },
  }
}

const toneFrames = 10

/** 100 ms of tone and 100 ms of pause per digit, as frames. */
const queueTones = (tones: Uint8Array[], codec: G711Codec, digits: string): void => {
  for (const digit of digits) {
    const tone = dtmfTone(digit)
    if (!tone || tones.length >= maxQueuedDigits * toneFrames) continue
    const bytes = encodeG711(codec, joinSamples([tone, silence(100)]))
    for (let i = 0; i < toneFrames; i++) {
      tones.push(bytes.subarray(i * g711FrameBytes, (i + 1) * g711FrameBytes))
    }
  }
}
