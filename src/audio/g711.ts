/** The two laws of ITU-T G.711, named as in SDP (`PCMU/8000`, `PCMA/8000`). One byte is one sample at 8 kHz. */
export type G711Codec = 'pcmu' | 'pcma'

/** Digital silence as sent on the wire. */
export const g711SilenceByte: Readonly<Record<G711Codec, number>> = { pcmu: 0xff, pcma: 0xd5 }

/** 160 bytes are 20 ms. */
export const g711FrameBytes = 160

/** Sample to byte. `out`, where given, takes the result and must be at least as long as `samples`. */
export const encodeG711 = (
  codec: G711Codec,
  samples: Int16Array,
  out: Uint8Array = new Uint8Array(samples.length),
): Uint8Array => {
  const table = encodeTables[codec]
  for (let i = 0; i < samples.length; i++) out[i] = table[samples[i]! & 0xffff]!
  return out
}

/** Byte to sample. `out`, where given, takes the result and must be at least as long as `payload`. */
export const decodeG711 = (
  codec: G711Codec,
  payload: Uint8Array,
  out: Int16Array = new Int16Array(payload.length),
): Int16Array => {
  const table = decodeTables[codec]
  for (let i = 0; i < payload.length; i++) out[i] = table[payload[i]!]!
  return out
}

/** One law to the other, byte by byte (ITU-T G.711 tables 3 and 4 within one quantisation step); the same law is copied. */
export const transcodeG711 = (
  from: G711Codec,
  to: G711Codec,
  payload: Uint8Array,
  out: Uint8Array = new Uint8Array(payload.length),
): Uint8Array => {
  const table = from === to ? undefined : transcodeTables[from]
  for (let i = 0; i < payload.length; i++) out[i] = table ? table[payload[i]!]! : payload[i]!
  return out
}

/** A new buffer of `length` bytes of silence. */
export const g711Silence = (codec: G711Codec, length: number = g711FrameBytes): Uint8Array =>
  new Uint8Array(length).fill(g711SilenceByte[codec])

const muLawBias = 0x84
const muLawClip = 32635

const decodeMuLaw = (byte: number): number => {
  const inverted = ~byte & 0xff
  const exponent = (inverted >> 4) & 0x07
  const magnitude = ((((inverted & 0x0f) << 3) + muLawBias) << exponent) - muLawBias
  return inverted & 0x80 ? -magnitude : magnitude
}

const encodeMuLaw = (sample: number): number => {
  const sign = sample < 0 ? 0x80 : 0
  const magnitude = Math.min(Math.abs(sample), muLawClip) + muLawBias
  const exponent = 24 - Math.clz32(magnitude)
  const mantissa = (magnitude >> (exponent + 3)) & 0x0f
  return ~(sign | (exponent << 4) | mantissa) & 0xff
}

// A-law toggles every second bit so that silence keeps the line's clock alive (G.711 section 3.2).
const aLawToggle = 0x55

const decodeALaw = (byte: number): number => {
  const toggled = byte ^ aLawToggle
  const exponent = (toggled >> 4) & 0x07
  const mantissa = toggled & 0x0f
  const magnitude =
    exponent === 0 ? (mantissa << 4) + 8 : ((mantissa << 4) + 0x108) << (exponent - 1)
  return toggled & 0x80 ? magnitude : -magnitude
}

const encodeALaw = (sample: number): number => {
  // Negative values are mirrored on -1, not 0: A-law has no code for zero, its smallest are +8 and -8.
  const sign = sample >= 0 ? 0x80 : 0
  const magnitude = sample >= 0 ? sample : -sample - 1
  const exponent = magnitude < 256 ? 0 : 24 - Math.clz32(magnitude)
  const mantissa = (magnitude >> (exponent === 0 ? 4 : exponent + 3)) & 0x0f
  return (sign | (exponent << 4) | mantissa) ^ aLawToggle
}

const everySample = (encode: (sample: number) => number): Uint8Array =>
  Uint8Array.from({ length: 65_536 }, (_, bits) => encode((bits << 16) >> 16))

const everyByte = (decode: (byte: number) => number): Int16Array =>
  Int16Array.from({ length: 256 }, (_, byte) => decode(byte))

const decodeTables = { pcmu: everyByte(decodeMuLaw), pcma: everyByte(decodeALaw) }
const encodeTables = { pcmu: everySample(encodeMuLaw), pcma: everySample(encodeALaw) }
const transcodeTables = {
  pcmu: encodeG711('pcma', decodeTables.pcmu),
  pcma: encodeG711('pcmu', decodeTables.pcma),
}
