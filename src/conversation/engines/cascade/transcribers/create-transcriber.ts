import type { G711Codec } from '../../../../audio/g711.ts'
import { createProviderFetch } from '../provider-fetch.ts'
import type { ProviderSettings } from '../providers/provider-settings.ts'
import type { TranscriberKind } from '../../../../contract/provider-kinds.ts'
import { plainLanguage } from '../providers/base-url.ts'
import { assemblyaiDialect } from './assemblyai.ts'
import { fluxDialect } from './deepgram-flux.ts'
import { novaDialect } from './deepgram-nova.ts'
import { createHttpTranscriber } from './http-transcriber.ts'
import { openaiDialect } from './openai-transcription.ts'
import { sonioxDialect } from './soniox.ts'
import type { CreateDialect } from './stream-dialect.ts'
import { createStreamingTranscriber } from './streaming-transcriber.ts'
import type { Transcriber } from './transcriber.ts'

const openaiBase = 'https://api.openai.com/v1'

/** The transcriber of a provider, for one conversation. */
export const createTranscriber = (
  settings: ProviderSettings<TranscriberKind>,
  spoken: { readonly language: string; readonly codec: G711Codec },
): Transcriber => {
  if (settings.kind !== 'openai-stt')
    return createStreamingTranscriber(settings, dialectOf(settings, spoken.language), spoken)
  const server = { ...settings, url: settings.url ?? openaiBase }
  const request = createProviderFetch(settings.publicHostsOnly === true)
  return createHttpTranscriber(server, spoken.language, request)
}

/** What Flux understands; Nova knows more languages. */
const fluxLanguages = new Set('en es fr de hi ru pt ja it nl'.split(' '))

const dialectOf = (
  { kind, model }: ProviderSettings<TranscriberKind>,
  language: string,
): CreateDialect => {
  switch (kind) {
    case 'deepgram-stt': {
      const isFlux = model?.startsWith('flux') ?? fluxLanguages.has(plainLanguage(language))
      return isFlux ? fluxDialect : novaDialect
    }
    case 'assemblyai-stt':
      return assemblyaiDialect
    case 'soniox-stt':
      return sonioxDialect
    case 'openai-stt':
    case 'openai-stt-stream':
      return openaiDialect
  }
}
