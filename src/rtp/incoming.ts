import { decodeG711, g711Silence, transcodeG711, type G711Codec } from '../audio/g711.ts'
import { energyOf } from '../audio/level.ts'
import { createConcealer, type Concealer } from './conceal.ts'
import { JitterBuffer } from './jitter-buffer.ts'
import { sequenceDistance, type RtpPacket } from './packet.ts'
import { Reception } from './reception.ts'
import type { RtpMedia } from './rtp-session-types.ts'
import { createDigitReceiver, type DigitReceiver } from './telephone-event.ts'

interface IncomingFigures {
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
/** Comfort noise (RFC 3389) announces silence, which a missing frame becomes anyway. */
const comfortNoisePayloadType = 13

interface Playout {
  readonly codec: G711Codec
  readonly buffer: JitterBuffer
  readonly concealer: Concealer
}

/** The other side's stream: its SSRC, payload types and order, and the filling of gaps. */
export class Incoming {
  #media: RtpMedia | undefined
  #playout = createPlayout('pcmu')
  #silence = g711Silence('pcmu')
  #isListening = true
  #hasMoved = false
  #reception: Reception | undefined
  #newcomer: { ssrc: number; sequenceNumber: number } | undefined
  #digits: DigitReceiver = createDigitReceiver()
  #digitListener: (digit: string) => void = () => {}
  readonly #before = { received: 0, lost: 0, duplicates: 0, reordered: 0, resyncs: 0 }
  readonly #past = { late: 0, resyncs: 0, concealed: 0 }
  #malformed = 0

  connect(media: RtpMedia): void {
    this.#media = media
    this.#setCodec(media.codec)
  }

  /** The other side's media moved: its next packet begins a new stream, whatever it continues. */
  moved(): void {
    this.#hasMoved = true
  }

  /** A packet of the latched source. `arrival` in timestamp units. */
  accept(packet: RtpPacket, arrival: number): void {
    const source = this.#receptionOf(packet)
    if (source?.update(packet.sequenceNumber, packet.timestamp, arrival)) this.#hear(packet)
  }

  /** Whether this payload type was negotiated. */
  isAgreed(payloadType: number): boolean {
    return (
      this.#codecOf(payloadType) !== undefined ||
      this.#isEvent(payloadType) ||
      payloadType === comfortNoisePayloadType
    )
  }

  /** The next 20 ms; silence while `listen(false)` holds. */
  take(): Uint8Array {
    if (!this.#isListening) return this.#silence
    const { buffer, concealer } = this.#playout
    const frame = buffer.take()
    return frame ? concealer.pass(frame) : concealer.conceal()
  }

  /** Packets are dropped while `isListening` is false. */
  listen(isListening: boolean): void {
    if (this.#isListening && !isListening) this.#playout.buffer.reset()
    this.#isListening = isListening
  }

  onDigit(listener: (digit: string) => void): void {
    this.#digitListener = listener
  }

  get reception(): Reception | undefined {
    return this.#reception
  }

  figures(): IncomingFigures {
    const reception = this.#reception
    const { buffer, concealer } = this.#playout
    return {
      received: this.#before.received + (reception?.received ?? 0),
      lost: this.#before.lost + (reception?.lost ?? 0),
      duplicates: this.#before.duplicates + (reception?.duplicates ?? 0),
      reordered: this.#before.reordered + (reception?.reordered ?? 0),
      malformed: this.#malformed,
      late: this.#past.late + buffer.late,
      resyncs: this.#before.resyncs + this.#past.resyncs + buffer.resyncs,
      concealed: this.#past.concealed + concealer.concealed,
      jitterMs: (reception?.jitter ?? 0) / samplesPerMs,
      playoutDelayMs: buffer.delayMs,
    }
  }

  #startSource(packet: RtpPacket): Reception {
    const previous = this.#reception
    if (previous) {
      this.#before.received += previous.received
      this.#before.lost += previous.lost
      this.#before.duplicates += previous.duplicates
      this.#before.reordered += previous.reordered
      this.#before.resyncs++
    }
    this.#newcomer = undefined
    this.#hasMoved = false
    this.#digits = createDigitReceiver()
    this.#playout.buffer.reset()
    return (this.#reception = new Reception(packet.ssrc, packet.sequenceNumber))
  }

  /** A second SSRC takes over with its second packet in sequence (RFC 3550 A.1); a single one is a stray. */
  #receptionOf(packet: RtpPacket): Reception | undefined {
    if (!this.#reception || this.#hasMoved) return this.#startSource(packet)
    if (packet.ssrc === this.#reception.ssrc) return this.#reception
    const isProven =
      this.#newcomer?.ssrc === packet.ssrc &&
      sequenceDistance(this.#newcomer.sequenceNumber, packet.sequenceNumber) === 1
    if (isProven) return this.#startSource(packet)
    this.#newcomer = packet
    return undefined
  }

  /** Peers use our number, as RFC 3264 requires, or their own. */
  #isEvent(payloadType: number): boolean {
    const { telephoneEventPayloadType, ownTelephoneEventPayloadType } = this.#media ?? {}
    return payloadType === telephoneEventPayloadType || payloadType === ownTelephoneEventPayloadType
  }

  #codecOf(payloadType: number): G711Codec | undefined {
    return payloadType === this.#media?.payloadType
      ? this.#media.codec
      : staticPayloadTypes[payloadType]
  }

  #hear(packet: RtpPacket): void {
    const { payloadType } = packet
    if (this.#isEvent(payloadType)) {
      const digit = this.#digits.accept(packet)
      if (digit !== undefined) this.#digitListener(digit)
      return
    }
    const codec = this.#codecOf(payloadType)
    if (codec && this.#isListening) this.#play(packet, codec)
    if (!codec && payloadType !== comfortNoisePayloadType) this.#malformed++
  }

  #play(packet: RtpPacket, codec: G711Codec): void {
    const { buffer, codec: played } = this.#playout
    buffer.put(
      codec === played
        ? packet
        : { ...packet, payload: transcodeG711(codec, played, packet.payload) },
    )
  }

  #setCodec(codec: G711Codec): void {
    const { buffer, concealer, codec: previous } = this.#playout
    if (codec === previous) return
    this.#past.late += buffer.late
    this.#past.resyncs += buffer.resyncs
    this.#past.concealed += concealer.concealed
    this.#playout = createPlayout(codec)
    this.#silence = g711Silence(codec)
  }
}

const createPlayout = (codec: G711Codec): Playout => {
  const isQuiet = (frame: Uint8Array): boolean => energyOf(decodeG711(codec, frame)) < quietEnergy
  return { codec, buffer: new JitterBuffer(codec, isQuiet), concealer: createConcealer(codec) }
}
