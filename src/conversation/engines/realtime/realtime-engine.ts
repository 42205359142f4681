import type { Logger } from '../../../runtime/logger.ts'
import type { VoiceEngine } from '../../engine/voice-engine.ts'
import { LastingSession } from './lasting-session.ts'
import type { LinkSettings } from './link-settings.ts'
import { openLink } from './open-link.ts'

export interface RealtimeEngineSettings extends LinkSettings {
  /** Overrides what is known about the server. */
  readonly sessionCapMs?: number
  /** How long the engine tries to replace a lost session; 8 s. */
  readonly reconnectLimitMs?: number
  readonly logger: Logger
}

/**
 * Any server of the OpenAI Realtime protocol: OpenAI, Azure, xAI, Inworld, Qwen, LocalAI, speaches, speech-to-speech,
 * vLLM-Omni, and the sandbox's scripted model.
 */
export const createRealtimeEngine = (settings: RealtimeEngineSettings): VoiceEngine => ({
  name: 'realtime',
  async open(options, signal) {
    const { sessionCapMs, reconnectLimitMs, logger } = settings
    const first = await openLink(settings, options, signal)
    if (first.refused.length > 0)
      logger.warn(
        { call_id: options.callId, refused: first.refused },
        'a voice engine refused settings and goes without them',
      )
    const session = new LastingSession({
      first,
      openNext: (giveUp) => openLink(settings, options, giveUp),
      sessionCapMs,
      reconnectLimitMs,
      options,
      logger,
    })
    if (options.greeting.trim() !== '') session.say(options.greeting)
    return session
  },
})
