// Writes src/audio/recorded-speech.br: what the sandbox's callees say, as Flite speaks it. Its test compares the file
// with Flite. To be run when a line of the personas changes.
import { writeFileSync } from 'node:fs'
import { brotliCompressSync } from 'node:zlib'
import { createSynthesizer } from '../src/audio/flite.ts'
import { recordedSpeechFile, type RecordedText } from '../src/audio/recorded-speech.ts'
import { splitSentences } from '../src/conversation/engines/scripted/sentences.ts'
import { personaVocabulary } from '../src/telephony/sandbox/personas.ts'

/** The voice of the personas. */
const voice = 'kal'

const synthesizer = createSynthesizer({ recorded: () => undefined })
const texts = new Set(personaVocabulary.flatMap((line) => [line, ...splitSentences(line)]))
const list: RecordedText[] = []
const sound: Buffer[] = []
for (const text of texts) {
  const { samples, sampleRateHz } = synthesizer.synthesize(text, voice)
  list.push({ text, voice, sampleRateHz, length: samples.length })
  const bytes = Buffer.alloc(2 * samples.length)
  for (const [index, sample] of samples.entries()) bytes.writeInt16LE(sample, 2 * index)
  sound.push(bytes)
}
writeFileSync(
  recordedSpeechFile,
  brotliCompressSync(Buffer.concat([Buffer.from(`${JSON.stringify(list)}\n`), ...sound])),
)
