import { streamOfFirst } from '../providers/first-part.ts'
import type { Lineup } from '../providers/lineup.ts'
import type { SpeechSynthesizer } from './synthesizer.ts'

/** A callee waits for the reply meanwhile: another provider that works is faster than patience. */
const patienceMs = 1_200

/** Several synthesizers as one. */
export const createFailoverSynthesizer = (
  lineup: Lineup<SpeechSynthesizer>,
): SpeechSynthesizer => ({
  warm: () => lineup.current.provider.warm(),
  speak: (text, signal) =>
    streamOfFirst(
      lineup,
      (synthesizer, either) => synthesizer.speak(text, either),
      { patienceMs, timeoutCode: 'speech_timeout' },
      signal,
    ),
  close() {
    for (const { provider } of lineup.members) provider.close()
  },
})
