import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import type { FliteVoice, SynthesizedSpeech } from './flite-speech.ts'

/**
 * Speech that Flite made in advance: what the sandbox's callees say, whole and by sentences. Reading it takes some
 * milliseconds. Compiling Flite and speaking takes a quarter of a second and 20 MB, in each of two threads at each start.
 * `scripts/generate-recorded-speech.ts` writes the file, and its test compares the file with Flite.
 */
export const recordedSpeechFile = new URL('./recorded-speech.br', import.meta.url)

/** Which texts are recorded, in which voices. */
export const listRecordedSpeech = (): readonly RecordedText[] => readList(readFile()).list

/** One recording; the file begins with their list as a line of JSON, and the samples follow, 16-bit little-endian. */
export interface RecordedText {
  readonly text: string
  readonly voice: FliteVoice
  readonly sampleRateHz: number
  readonly length: number
}

/** The recording of this text, as Flite reads it, in this voice; undefined if there is none. */
export const findRecordedSpeech = (
  readable: string,
  voice: FliteVoice,
): SynthesizedSpeech | undefined => (recordings ??= readRecordings()).get(keyOf(readable, voice))

let recordings: ReadonlyMap<string, SynthesizedSpeech> | undefined

const keyOf = (text: string, voice: FliteVoice): string => `${voice}\n${text}`

const readFile = (): Buffer => brotliDecompressSync(readFileSync(recordedSpeechFile))

const readList = (file: Buffer) => {
  const end = file.indexOf('\n')
  return { list: JSON.parse(file.toString('utf8', 0, end)) as readonly RecordedText[], end }
}

const readRecordings = (): ReadonlyMap<string, SynthesizedSpeech> => {
  const file = readFile()
  const { list, end } = readList(file)
  const found = new Map<string, SynthesizedSpeech>()
  let at = end + 1
  for (const { text, voice, sampleRateHz, length } of list) {
    const samples = new Int16Array(length)
    for (let index = 0; index < length; index += 1)
      samples[index] = file.readInt16LE(at + 2 * index)
    found.set(keyOf(text, voice), { samples, sampleRateHz })
    at += 2 * length
  }
  return found
}
