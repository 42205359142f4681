/** G.711 mu-law (ITU-T G.711, table 2): one byte as a sample between -1 and 1. */
export const decodeMuLaw = (byte: number): number => {
  const inverted = ~byte & 0xff
  const magnitude = (((inverted & 0x0f) << 3) + 0x84) << ((inverted & 0x70) >> 4)
  const sample = (magnitude - 0x84) / 32_768
  return inverted & 0x80 ? -sample : sample
}

const bias = 0x84
const clip = 32_635

/** A sample between -1 and 1 as one byte of mu-law. */
export const encodeMuLaw = (sample: number): number => {
  const linear = Math.round(Math.max(-1, Math.min(1, sample)) * 32_768)
  const sign = linear < 0 ? 0x80 : 0
  const magnitude = Math.min(clip, Math.abs(linear)) + bias
  const exponent = Math.max(0, 31 - Math.clz32(magnitude) - 7)
  const mantissa = (magnitude >> (exponent + 3)) & 0x0f
  return ~(sign | (exponent << 4) | mantissa) & 0xff
}
