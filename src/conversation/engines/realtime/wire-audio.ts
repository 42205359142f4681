import { decodeG711, encodeG711 } from '../../../audio/g711.ts'
import { createResampler } from '../../../audio/resample.ts'
import type { G711Codec } from '../../../audio/g711.ts'

/** `g711` passes the line's own bytes through; `pcm` is little-endian, 16 bits, mono, and resampled. */
export type WireFormat =
  | { readonly kind: 'g711' }
  | { readonly kind: 'pcm'; readonly inputHz: number; readonly outputHz: number }

export const g711Wire: WireFormat = { kind: 'g711' }

/** `inputHz` goes to the server, `outputHz` comes from it. */
export const pcmWire = (inputHz: number, outputHz: number): WireFormat => ({
  kind: 'pcm',
  inputHz,
  outputHz,
})

/**
 * Converts frames of the line into the server's format, and back. One per session, because resampling has state.
 */
export interface WireAudio {
  readonly format: WireFormat
  toWire(g711: Uint8Array): Buffer
  /** Bytes as they arrive, of any length; returns the G.711 that is complete so far. */
  fromWire(wire: Buffer): Uint8Array
  /** Another utterance begins: drops half a sample and the resampler's state of the last one. */
  restart(): void
}

export const createWireAudio = (format: WireFormat, codec: G711Codec): WireAudio =>
  format.kind === 'g711' ? createG711Wire() : createPcmWire(format, codec)

const createG711Wire = (): WireAudio => ({
  format: g711Wire,
  toWire: (g711) => Buffer.from(g711.buffer, g711.byteOffset, g711.byteLength),
  fromWire: (wire) => wire,
  restart: () => {},
})

const lineRateHz = 8_000
const bytesPerSample = 2

const createPcmWire = (
  format: Extract<WireFormat, { kind: 'pcm' }>,
  codec: G711Codec,
): WireAudio => {
  const up = createResampler(lineRateHz, format.inputHz)
  const down = createResampler(format.outputHz, lineRateHz)
  let carry = Buffer.alloc(0)

  return {
    format,
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
