/** 16 bits, little-endian. Half a sample at the end is dropped. */
export const samplesOfPcm = (bytes: Buffer): Int16Array =>
  Int16Array.from({ length: bytes.length >> 1 }, (_, at) => bytes.readInt16LE(2 * at))
