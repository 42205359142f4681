import { createResampler, type Resampler } from '../../../../audio/resample.ts'
import { readWavHead, WavFormatError } from '../../../../audio/wav.ts'
import { ProviderError } from '../provider-error.ts'

/** Converts a speech server's data, raw PCM or a WAV file, into samples at 8 kHz as it arrives. */
interface SpeechDecoder {
  /** Throws `ProviderError` for unplayable data. */
  decode(bytes: Uint8Array): Int16Array
  /** The last samples. Throws `ProviderError` if there were none at all. */
  end(): Int16Array
}

const lineRateHz = 8_000
/** The meaning of `pcm` at OpenAI, Kokoro and similar servers. */
const usualRateHz = 24_000
/** Enough bytes to distinguish the file formats. */
const magicBytes = 4
/** Servers send no longer header before the audio. */
const maxHeadBytes = 64 * 1024

/** The audio format, and the bytes so far that are audio. */
interface Begun {
  readonly rateHz: number
  readonly channels: number
  readonly audioAt: number
  readonly audioBytes: number
}

export const createSpeechDecoder = (contentType: string): SpeechDecoder => {
  let carry = Buffer.alloc(0)
  let channels = 1
  let bytesLeft = Infinity
  let resampler: Resampler | undefined

  const begin = (isAll: boolean): void => {
    const begun = readHead(carry, contentType, isAll)
    if (begun === undefined) return
    resampler = resamplerFrom(begun.rateHz)
    channels = begun.channels
    bytesLeft = begun.audioBytes
    carry = carry.subarray(begun.audioAt)
  }

  const decodeCarry = ({ process }: Resampler): Int16Array => {
    const audio = carry.subarray(0, Math.min(carry.length, bytesLeft))
    const frames = Math.floor(audio.length / (2 * channels))
    const used = frames * 2 * channels
    bytesLeft -= used
    carry = carry.subarray(used)
    return process(mixedDown(audio, frames, channels))
  }

  return {
    decode(bytes) {
      // Bytes after the audio of a file are not audio.
      if (resampler && bytesLeft < 2 * channels) return new Int16Array(0)
      carry = Buffer.concat([carry, bytes])
      if (!resampler) begin(false)
      return resampler ? decodeCarry(resampler) : new Int16Array(0)
    },
    end() {
      if (!resampler) begin(true)
      if (!resampler) throw notAudio('nothing')
      const rest = decodeCarry(resampler)
      const tail = resampler.flush()
      return Int16Array.from([...rest, ...tail])
    },
  }
}

/** Shorter audio would sound like a click. */
export const notAudio = (what: string): ProviderError =>
  new ProviderError('speech_failed', `The speech server sent ${what.slice(0, 100)} for audio.`)

/**
 * Undefined until enough bytes have arrived. Some servers send a WAV file although another format was requested.
 */
const readHead = (bytes: Buffer, contentType: string, isAll: boolean): Begun | undefined => {
  if (bytes.length < magicBytes && !isAll) return undefined
  if (isCompressed(bytes, contentType)) throw notPlayable('Compressed speech cannot be played.')
  if (bytes.toString('latin1', 0, magicBytes) === 'RIFF') return readFileHead(bytes)
  if (bytes.length === 0) return undefined
  return { rateHz: rateOf(contentType), channels: 1, audioAt: 0, audioBytes: Infinity }
}

const readFileHead = (bytes: Buffer): Begun | undefined => {
  try {
    const head = readWavHead(bytes)
    if (head === undefined && bytes.length <= maxHeadBytes) return undefined
    if (head === undefined) throw new WavFormatError('The head of the WAV file has no end.')
    const { sampleRateHz: rateHz, channels, audioAt, audioBytes } = head
    return { rateHz, channels, audioAt, audioBytes }
  } catch (cause) {
    if (!(cause instanceof WavFormatError)) throw cause
    throw notPlayable(cause.message, cause)
  }
}

/** The first bytes of MP3 and ADTS could also be quiet samples, so the server's content type counts too. */
const isCompressed = (bytes: Buffer, contentType: string): boolean =>
  /^(?:ID3|OggS|fLaC)/.test(bytes.toString('latin1', 0, magicBytes)) ||
  (/mpeg|mp3|aac/i.test(contentType) && bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0)

const resamplerFrom = (rateHz: number): Resampler => {
  try {
    return createResampler(rateHz, lineRateHz)
  } catch (cause) {
    throw notPlayable(`Speech at ${rateHz} Hz cannot be played.`, cause)
  }
}

/** The same request would return the same. */
const notPlayable = (message: string, cause?: unknown): ProviderError =>
  new ProviderError('speech_failed', message, { cause, status: 415 })

const rateOf = (contentType: string): number => {
  const rate = /rate="?(\d{4,6})/.exec(contentType)?.[1]
  return rate === undefined ? usualRateHz : Number(rate)
}

const mixedDown = (bytes: Buffer, frames: number, channels: number): Int16Array =>
  Int16Array.from({ length: frames }, (_, frame) => {
    let sum = 0
    for (let channel = 0; channel < channels; channel += 1)
      sum += bytes.readInt16LE(2 * (frame * channels + channel))
    return sum / channels
  })
