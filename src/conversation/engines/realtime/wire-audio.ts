import { decodeG711, encodeG711 } from '../../../audio/g711.ts'
import { createResampler } from '../../../audio/resample.ts'
import type { G711Codec } from '../../../audio/g711.ts'

/** `g711` passes the line's own bytes through; `pcm16` is 24 kHz, for servers that support nothing else. */
export type WireFormat = 'g711' | 'pcm16'

/**
 * Converts frames of the line into the server's format, and back. One per session, because resampling has state.
 */
export interface WireAudio {
  /** The protocol's name of the format. */
  readonly format: object
  toWire(g711: Uint8Array): Buffer
  /** Bytes as they arrive, of any length; returns the G.711 that is complete so far. */
  fromWire(wire: Buffer): Uint8Array
  /** Another utterance begins: drops half a sample and the resampler's state of the last one. */
  restart(): void
}

export const createWireAudio = (wireFormat: WireFormat, codec: G711Codec): WireAudio =>
  wireFormat === 'g711' ? createG711Wire(codec) : createPcmWire(codec)

const createG711Wire = (codec: G711Codec): WireAudio => ({
  format: { type: `audio/${codec}` },
  toWire: (g711) => Buffer.from(g711.buffer, g711.byteOffset, g711.byteLength),
  fromWire: (wire) => wire,
  restart: () => {},
})

const lineRateHz = 8_000
const wireRateHz = 24_000
const bytesPerSample = 2

/** Little-endian, 16 bits, mono. */
const createPcmWire = (codec: G711Codec): WireAudio => {
  const up = createResampler(lineRateHz, wireRateHz)
  const down = createResampler(wireRateHz, lineRateHz)
  let carry = Buffer.alloc(0)

  return {
    format: { type: 'audio/pcm', rate: wireRateHz },
    toWire(g711) {
      const samples = up.process(decodeG711(codec, g711))
      const wire = Buffer.alloc(samples.length * bytesPerSample)
      for (const [index, sample] of samples.entries()) {
        wire.writeInt16LE(sample, index * bytesPerSample)
      }
      return wire
    },
    fromWire(wire) {
      const bytes = carry.length > 0 ? Buffer.concat([carry, wire]) : wire
      const samples = new Int16Array(bytes.length >> 1)
      for (let index = 0; index < samples.length; index += 1) {
        samples[index] = bytes.readInt16LE(index * bytesPerSample)
      }
      carry = Buffer.from(bytes.subarray(samples.length * bytesPerSample))
      return encodeG711(codec, down.process(samples))
    },
    restart() {
      carry = Buffer.alloc(0)
      down.flush()
    },
  }
}
