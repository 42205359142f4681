import { createVoiceActivityDetector } from '../../../audio/voice-activity.ts'
import type { Logger } from '../../../runtime/logger.ts'
import { withCallRules } from '../../engine/call-rules.ts'
import { EngineOpenError, type VoiceEngine } from '../../engine/voice-engine.ts'
import { CascadeSession } from './cascade-session.ts'
import { createProviderFetch } from './provider-fetch.ts'
import { ProviderError } from './provider-error.ts'
import { createSpeechCache } from './speech-cache.ts'
import { createSpeechServer, type SpeechSettings } from './speech-server.ts'
import { createTranscriber, type ServerSettings } from './transcriber.ts'

export interface CascadeEngineSettings {
  /** Base URLs of OpenAI-compatible servers, `…/v1`. */
  readonly transcriber: ServerSettings
  readonly model: ServerSettings
  readonly speech: SpeechSettings
  /** A tenant supplied the addresses: only public hosts are allowed. */
  readonly publicHostsOnly?: boolean
  readonly logger: Logger
}

/** Shared by all calls of a thread. */
const speechCache = createSpeechCache()

/**
 * Three servers in a row: our own detector cuts out the callee's speech, a transcriber writes it down, a chat model
 * replies, and its sentences are spoken one by one. Opening succeeds once the first words are ready to play.
 */
export const createCascadeEngine = (settings: CascadeEngineSettings): VoiceEngine => ({
  name: 'cascade',
  async open(options, signal) {
    signal.throwIfAborted()
    const request = createProviderFetch(settings.publicHostsOnly === true)
    // Only the first call that needs the SDK loads it, because most installations never do.
    const { createChatModel } = await import('./chat-model.ts')
    const voice = options.voice ?? settings.speech.voice
    const speech = { ...settings.speech, ...(voice !== undefined && { voice }) }
    const session = new CascadeSession({
      transcriber: createTranscriber(settings.transcriber, options.language, request),
      model: createChatModel(
        settings.model,
        withCallRules(options.instructions),
        options.tools,
        request,
      ),
      speechServer: createSpeechServer(speech, request),
      cache: speechCache,
      cacheKey: (text) =>
        JSON.stringify([speech.url, speech.model, voice, options.codec, options.language, text]),
      voiceActivity: await createVoiceActivityDetector(),
      options,
      logger: settings.logger,
    })
    try {
      await session.begin(signal)
    } catch (error) {
      await session.close()
      if (!(error instanceof ProviderError)) throw error
      throw new EngineOpenError(error.code, error.message, { cause: error })
    }
    return session
  },
})
