/** 16-bit PCM with its channels interleaved. */
interface WavAudio {
  readonly samples: Int16Array
  readonly sampleRateHz: number
  readonly channels: number
}

/** Not a WAV file, or one that is not 16-bit PCM. */
export class WavFormatError extends Error {
  override name = 'WavFormatError'
}

const headerBytes = 44
const pcm = 1
const pcmExtensible = 0xfffe

/** The whole file: RIFF header of 44 bytes, then the samples. */
export const writeWav = (samples: Int16Array, sampleRateHz: number, channels = 1): Uint8Array => {
  const file = Buffer.alloc(headerBytes + 2 * samples.length)
  file.write('RIFF', 0, 'latin1')
  file.writeUInt32LE(file.length - 8, 4)
  file.write('WAVEfmt ', 8, 'latin1')
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(pcm, 20)
  file.writeUInt16LE(channels, 22)
  file.writeUInt32LE(sampleRateHz, 24)
  file.writeUInt32LE(sampleRateHz * channels * 2, 28)
  file.writeUInt16LE(channels * 2, 32)
  file.writeUInt16LE(16, 34)
  file.write('data', 36, 'latin1')
  file.writeUInt32LE(2 * samples.length, 40)
  samples.forEach((sample, i) => file.writeInt16LE(sample, headerBytes + 2 * i))
  return file
}

/**
 * Reads 16-bit PCM; unknown chunks are skipped. A data chunk that claims more than there is (a stream that never
 * learned its length) ends with the file. Throws `WavFormatError`.
 */
export const readWav = (bytes: Uint8Array): WavAudio => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WAVE') {
    throw new WavFormatError('This is not a WAV file.')
  }
  let format: { sampleRateHz: number; channels: number } | undefined
  for (const { id, body } of chunksOf(file)) {
    if (id === 'fmt ') format = readFormat(body)
    if (id === 'data' && format) return { ...format, samples: readSamples(body) }
  }
  throw new WavFormatError('The WAV file holds no audio.')
}

/** The format in the head of a WAV file, and where the audio begins. */
interface WavHead {
  readonly sampleRateHz: number
  readonly channels: number
  readonly audioAt: number
  /** Bytes of audio; all that follow, if the writer did not know. */
  readonly audioBytes: number
}

/**
 * Reads the head of a file that is still arriving; `undefined` until the head is complete. Throws `WavFormatError`.
 */
export const readWavHead = (bytes: Uint8Array): WavHead | undefined => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let format: { sampleRateHz: number; channels: number } | undefined
  for (let at = 12; at + 8 <= file.length;) {
    const id = file.toString('latin1', at, at + 4)
    const length = file.readUInt32LE(at + 4)
    const audioAt = at + 8
    if (id === 'data' && format) return { ...format, audioAt, audioBytes: length || Infinity }
    if (id === 'data') throw new WavFormatError('The WAV file does not say what it holds.')
    if (id === 'fmt ' && audioAt + length > file.length) return undefined
    if (id === 'fmt ') format = readFormat(file.subarray(audioAt, audioAt + length))
    at = audioAt + length + (length % 2)
  }
  return undefined
}

function* chunksOf(file: Buffer): Generator<{ id: string; body: Buffer }> {
  for (let at = 12; at + 8 <= file.length;) {
    const length = file.readUInt32LE(at + 4)
    yield { id: file.toString('latin1', at, at + 4), body: file.subarray(at + 8, at + 8 + length) }
    // Chunks begin at even offsets.
    at += 8 + length + (length % 2)
  }
}

const readFormat = (body: Buffer): { sampleRateHz: number; channels: number } => {
  if (body.length < 16) throw new WavFormatError('The WAV format chunk is too short.')
  const encoding = body.readUInt16LE(0)
  if ((encoding !== pcm && encoding !== pcmExtensible) || body.readUInt16LE(14) !== 16) {
    throw new WavFormatError('Only 16-bit PCM can be read.')
  }
  const channels = body.readUInt16LE(2)
  if (channels === 0) throw new WavFormatError('The WAV file has no channel.')
  return { channels, sampleRateHz: body.readUInt32LE(4) }
}

const readSamples = (body: Buffer): Int16Array =>
  Int16Array.from({ length: body.length >> 1 }, (_, i) => body.readInt16LE(2 * i))
