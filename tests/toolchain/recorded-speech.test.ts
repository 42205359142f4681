import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listRecordedSpeech } from '../../src/audio/recorded-speech.ts'
import { splitSentences } from '../../src/conversation/engines/scripted/sentences.ts'
import { personaVocabulary } from '../../src/telephony/sandbox/personas.ts'

test('every line of the sandbox is recorded, whole and by sentences, so that no start loads Flite', () => {
  const spoken = new Set(personaVocabulary.flatMap((line) => [line, ...splitSentences(line)]))
  assert.deepEqual(
    listRecordedSpeech().map(({ text }) => text),
    [...spoken],
    'run node scripts/generate-recorded-speech.ts',
  )
})
