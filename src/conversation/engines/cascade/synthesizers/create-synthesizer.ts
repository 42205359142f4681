import { createProviderFetch } from '../provider-fetch.ts'
import type { ProviderSettings } from '../providers/provider-settings.ts'
import type { SynthesizerKind } from '../../../../contract/provider-kinds.ts'
import { createCartesiaSynthesizer } from './cartesia.ts'
import { createAuraSynthesizer } from './deepgram-aura.ts'
import { createElevenlabsSynthesizer } from './elevenlabs.ts'
import { createHttpSynthesizer } from './http-synthesizer.ts'
import type { SpeechSynthesizer } from './synthesizer.ts'

const openaiBase = 'https://api.openai.com/v1'

/** The synthesizer of a provider, for one conversation. */
export const createSpeechSynthesizer = (
  settings: ProviderSettings<SynthesizerKind>,
  language: string,
): SpeechSynthesizer => {
  switch (settings.kind) {
    case 'elevenlabs-tts':
      return createElevenlabsSynthesizer(settings, language)
    case 'cartesia-tts':
      return createCartesiaSynthesizer(settings, language)
    case 'deepgram-tts':
      return createAuraSynthesizer(settings)
    case 'openai-tts': {
      const server = { ...settings, url: settings.url ?? openaiBase }
      return createHttpSynthesizer(server, createProviderFetch(settings.publicHostsOnly === true))
    }
  }
}
