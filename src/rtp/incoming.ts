import { decodeG711, g711Silence, transcodeG711, type G711Codec } from '../audio/g711.ts'
import { energyOf } from '../audio/level.ts'
import { createConcealer, type Concealer } from './conceal.ts'
import { createJitterBuffer, type JitterBuffer } from './jitter-buffer.ts'
import { sequenceDistance, type RtpPacket } from './packet.ts'
import { createReception, type Reception } from './reception.ts'
import type { RtpMedia } from './rtp-session-types.ts'
import { createDigitReceiver, type DigitReceiver } from './telephone-event.ts'

/** The other side's stream: which SSRC, which payload, in which order, and what fills the holes. */
export interface Incoming {
  connect(media: RtpMedia): void
  /** A packet of the latched source. `arrival` in timestamp units. */
  accept(packet: RtpPacket, arrival: number): void
  /** Whether packets of this payload type belong to what was agreed on. */
  isAgreed(payloadType: number): boolean
  /** The next 20 ms. Packets are dropped and silence is returned while `isListening` is false. */
  take(): Uint8Array
  listen(isListening: boolean): void
  onDigit(listener: (digit: string) => void): void
  readonly reception: Reception | undefined
  figures(): IncomingFigures
}

export interface IncomingFigures {
  readonly received: number
  readonly lost: number
  readonly duplicates: number
  readonly reordered: number
  readonly malformed: number
  readonly late: number
  readonly resyncs: number
  readonly concealed: number
  readonly jitterMs: number
  readonly playoutDelayMs: number
}

const samplesPerMs = 8
/** About -40 dBFS: the pause between words on a telephone line. */
const quietEnergy = 320 ** 2

const staticPayloadTypes: Readonly<Record<number, G711Codec>> = { 0: 'pcmu', 8: 'pcma' }
/** Comfort noise (RFC 3389): a statement that there is silence, which is what a missing frame becomes anyway. */
const comfortNoisePayloadType = 13

interface Playout {
  readonly codec: G711Codec
  readonly buffer: JitterBuffer
  readonly concealer: Concealer
}

export const createIncoming = (): Incoming => {
  let media: RtpMedia | undefined
  let playout = createPlayout('pcmu')
  let silence = g711Silence('pcmu')
  let isListening = true
  let reception: Reception | undefined
  let newcomer: { ssrc: number; sequenceNumber: number } | undefined
  let digits: DigitReceiver = createDigitReceiver()
  let digitListener: (digit: string) => void = () => {}
  const before = { received: 0, lost: 0, duplicates: 0, reordered: 0, resyncs: 0 }
  const past = { late: 0, resyncs: 0, concealed: 0 }
  let malformed = 0

  const startSource = (packet: RtpPacket): Reception => {
    if (reception) {
      before.received += reception.received
      before.lost += reception.lost
      before.duplicates += reception.duplicates
      before.reordered += reception.reordered
      before.resyncs++
    }
    newcomer = undefined
    digits = createDigitReceiver()
    playout.buffer.reset()
    reception = createReception(packet.ssrc, packet.sequenceNumber)
    return reception
  }

  /** A second SSRC takes over with its second packet in sequence (RFC 3550 A.1); a single one is a stray. */
  const receptionOf = (packet: RtpPacket): Reception | undefined => {
    if (!reception) return startSource(packet)
    if (packet.ssrc === reception.ssrc) return reception
    const isProven =
      newcomer?.ssrc === packet.ssrc &&
      sequenceDistance(newcomer.sequenceNumber, packet.sequenceNumber) === 1
    if (isProven) return startSource(packet)
    newcomer = packet
    return undefined
  }

  const codecOf = (payloadType: number): G711Codec | undefined =>
    payloadType === media?.payloadType ? media.codec : staticPayloadTypes[payloadType]

  const hear = (packet: RtpPacket): void => {
    const { payloadType } = packet
    if (payloadType === media?.telephoneEventPayloadType) {
      const digit = digits.accept(packet)
      if (digit !== undefined) digitListener(digit)
      return
    }
    const codec = codecOf(payloadType)
    if (codec && isListening) {
      playout.buffer.put(
        codec === playout.codec
          ? packet
          : { ...packet, payload: transcodeG711(codec, playout.codec, packet.payload) },
      )
    }
    if (!codec && payloadType !== comfortNoisePayloadType) malformed++
  }

  const setCodec = (codec: G711Codec): void => {
    if (codec === playout.codec) return
    past.late += playout.buffer.late
    past.resyncs += playout.buffer.resyncs
    past.concealed += playout.concealer.concealed
    playout = createPlayout(codec)
    silence = g711Silence(codec)
  }

  return {
    connect(next) {
      media = next
      setCodec(next.codec)
    },
    accept(packet, arrival) {
      const source = receptionOf(packet)
      if (source?.update(packet.sequenceNumber, packet.timestamp, arrival)) hear(packet)
    },
    isAgreed: (payloadType) =>
      codecOf(payloadType) !== undefined ||
      payloadType === media?.telephoneEventPayloadType ||
      payloadType === comfortNoisePayloadType,
    take() {
      if (!isListening) return silence
      const frame = playout.buffer.take()
      return frame ? playout.concealer.pass(frame) : playout.concealer.conceal()
    },
    listen(next) {
      if (isListening && !next) playout.buffer.reset()
      isListening = next
    },
    onDigit(listener) {
      digitListener = listener
    },
    get reception() {
      return reception
    },
    figures: () => ({
      received: before.received + (reception?.received ?? 0),
      lost: before.lost + (reception?.lost ?? 0),
      duplicates: before.duplicates + (reception?.duplicates ?? 0),
      reordered: before.reordered + (reception?.reordered ?? 0),
      malformed,
      late: past.late + playout.buffer.late,
      resyncs: before.resyncs + past.resyncs + playout.buffer.resyncs,
      concealed: past.concealed + playout.concealer.concealed,
      jitterMs: (reception?.jitter ?? 0) / samplesPerMs,
      playoutDelayMs: playout.buffer.delayMs,
    }),
  }
}

const createPlayout = (codec: G711Codec): Playout => {
  const isQuiet = (frame: Uint8Array): boolean => energyOf(decodeG711(codec, frame)) < quietEnergy
  return { codec, buffer: createJitterBuffer(codec, isQuiet), concealer: createConcealer(codec) }
}
