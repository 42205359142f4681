import type { Logger } from '../../../runtime/logger.ts'
import type { VoiceEngine } from '../../engine/voice-engine.ts'
import { LastingSession } from './lasting-session.ts'
import { openLink, type LinkSettings } from './open-link.ts'

export interface RealtimeEngineSettings extends LinkSettings {
  /** Overrides what is known about the server. */
  readonly sessionCapMs?: number
  /** How long the engine tries to replace a lost session; 8 s. */
  readonly reconnectLimitMs?: number
  readonly logger: Logger
}

/**
 * Any server of the OpenAI Realtime protocol: OpenAI, Azure, xAI, LocalAI, speaches, and the sandbox's scripted
 * model.
 */
export const createRealtimeEngine = (settings: RealtimeEngineSettings): VoiceEngine => ({
  name: 'realtime',
  async open(options, signal) {
    const { sessionCapMs, reconnectLimitMs, logger } = settings
    const session = new LastingSession({
      first: await openLink(settings, options, signal),
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
