import { frameSamples } from '../audio/frame.ts'
import { readUint16, writeUint16 } from './packet.ts'

/** RFC 4733: digits as named events instead of tones. */
interface TelephoneEvent {
  readonly event: number
  readonly end: boolean
  /** dBm0 without its sign, 0 to 63. */
  readonly volume: number
  /** Samples since the event's timestamp. */
  readonly duration: number
}

const digits = '0123456789*#ABCD'

/** Event code of a digit (RFC 4733 table 3), `undefined` for other characters. */
export const eventOfDigit = (digit: string): number | undefined => {
  const event = digit.length === 1 ? digits.indexOf(digit.toUpperCase()) : -1
  return event < 0 ? undefined : event
}

/** Digit of an event code, `undefined` for other events. */
export const digitOfEvent = (event: number): string | undefined => digits[event]

/** `undefined` for a payload too short to be an event. Redundant events after the first are not read. */
export const parseTelephoneEvent = (payload: Uint8Array): TelephoneEvent | undefined =>
  payload.length < 4
    ? undefined
    : {
        event: payload[0]!,
        end: (payload[1]! & 0x80) !== 0,
        volume: payload[1]! & 0x3f,
        duration: readUint16(payload, 2),
      }

export const serializeTelephoneEvent = (event: TelephoneEvent): Uint8Array => {
  const bytes = new Uint8Array(4)
  bytes[0] = event.event
  bytes[1] = (event.end ? 0x80 : 0) | (event.volume & 0x3f)
  writeUint16(bytes, 2, event.duration)
  return bytes
}

/** One outgoing packet of a digit; `timestampOffset` counts back from now to the start of the event. */
interface OutgoingEvent {
  readonly marker: boolean
  readonly payload: Uint8Array
  readonly samplesSinceStart: number
}

/** Longer than any extension or menu; further digits are dropped. */
export const maxQueuedDigits = 64

/** 100 ms of digit and 100 ms of pause: more than the 40 ms that Q.24 lets a receiver require. */
const digitFrames = 5
const pauseFrames = 5
/** The final packet is sent three times (RFC 4733 2.5.1.4). */
const endPackets = 3
const volume = 10

interface DigitSender {
  /** Appends the digits of `text`, skipping everything else. */
  queue(text: string): void
  /** Whether `next` replaces the audio of this tick. */
  readonly isSending: boolean
  /** The event packet of this 20 ms, or `undefined` in the pause between digits. */
  next(): OutgoingEvent | undefined
}

/** Turns queued digits into one event packet per tick. */
export const createDigitSender = (): DigitSender => {
  const waiting: number[] = []
  let frame = 0

  const packetAt = (event: number): OutgoingEvent => {
    const end = frame >= digitFrames
    const duration = frameSamples * Math.min(frame + 1, digitFrames)
    return {
      marker: frame === 0,
      payload: serializeTelephoneEvent({ event, end, volume, duration }),
      samplesSinceStart: frame * frameSamples,
    }
  }

  return {
    queue(text) {
      for (const digit of text) {
        const event = eventOfDigit(digit)
        if (event !== undefined && waiting.length < maxQueuedDigits) waiting.push(event)
      }
    },
    get isSending() {
      return waiting.length > 0
    },
    next() {
      const event = waiting[0]!
      const packet = frame < digitFrames + endPackets ? packetAt(event) : undefined
      frame++
      if (frame === digitFrames + endPackets + pauseFrames) {
        frame = 0
        waiting.shift()
      }
      return packet
    },
  }
}

export interface DigitReceiver {
  /** The digit, if this packet is the first of a key press; else `undefined`. */
  accept(packet: { readonly timestamp: number; readonly payload: Uint8Array }): string | undefined
}

/**
 * Reports each key press once, at its first packet, whichever packets are lost: they share one timestamp. A press
 * longer than the duration field continues under a new timestamp (RFC 4733 2.5.1.3) and is still the same one.
 */
export const createDigitReceiver = (): DigitReceiver => {
  let last: { timestamp: number; event: number; nextTimestamp: number; ended: boolean } | undefined

  return {
    accept({ timestamp, payload }) {
      const event = parseTelephoneEvent(payload)
      if (!event) return undefined
      const sameSegment = last?.timestamp === timestamp && last.event === event.event
      const nextSegment =
        last?.nextTimestamp === timestamp && last.event === event.event && !last.ended
      // Reordered packets of the previous press: older than the last report.
      const isOld = last !== undefined && ((timestamp - last.timestamp) | 0) < 0
      if (isOld && !sameSegment) return undefined
      last = {
        timestamp,
        event: event.event,
        nextTimestamp: (timestamp + event.duration) >>> 0,
        ended: event.end || (sameSegment && last!.ended),
      }
      return sameSegment || nextSegment ? undefined : digitOfEvent(event.event)
    },
  }
}
