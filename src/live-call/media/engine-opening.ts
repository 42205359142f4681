import type { G711Codec } from '../../audio/g711.ts'
import type { VoiceActivityDetector } from '../../audio/voice-activity.ts'
import type { VoiceEngine, VoiceSession } from '../../conversation/engine/voice-engine.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { ConversationPlan, EngineSettings } from './media-protocol.ts'

interface EngineOpeningOptions {
  readonly callId: string
  readonly codec: G711Codec
  openEngine(settings: EngineSettings): VoiceEngine
  openVoiceActivity(): Promise<VoiceActivityDetector>
  /** The engine was unreachable. Not called after `abort`. */
  readonly onFailure: () => void
  readonly logger: Logger
}

interface PreparedEngine {
  readonly plan: ConversationPlan
  readonly session: VoiceSession
  readonly voiceActivity: VoiceActivityDetector
}

/** An engine may take this long to open while the phone rings. */
const openLimitMs = 20_000

/** Opens the engine of one call while the phone rings, so that the first words are not late. */
export class EngineOpening {
  readonly #options: EngineOpeningOptions
  readonly #abort = new AbortController()
  #opening: Promise<PreparedEngine | undefined> = Promise.resolve(undefined)

  constructor(options: EngineOpeningOptions) {
    this.#options = options
  }

  start(plan: ConversationPlan): void {
    this.#opening = this.#open(plan)
  }

  /** The open engine; undefined if it was not requested or was unreachable. */
  get prepared(): Promise<PreparedEngine | undefined> {
    return this.#opening
  }

  /** Aborts the opening. An open engine stays open. */
  abort(): void {
    this.#abort.abort()
  }

  /** Closes an engine that no conversation has taken over. */
  async close(): Promise<void> {
    this.abort()
    const prepared = await this.#opening
    prepared?.voiceActivity.close()
    await prepared?.session.close()
  }

  async #open(plan: ConversationPlan): Promise<PreparedEngine | undefined> {
    const { callId, codec, logger, onFailure } = this.#options
    const signal = AbortSignal.any([this.#abort.signal, AbortSignal.timeout(openLimitMs)])
    try {
      const engine = this.#options.openEngine(plan.engine)
      const session = await engine.open({ ...plan.session, callId, codec }, signal)
      return { plan, session, voiceActivity: await this.#openVoiceActivity(session) }
    } catch (error) {
      if (this.#abort.signal.aborted) return undefined
      logger.warn({ err: error }, 'a voice engine could not be opened')
      onFailure()
      return undefined
    }
  }

  async #openVoiceActivity(session: VoiceSession): Promise<VoiceActivityDetector> {
    try {
      return await this.#options.openVoiceActivity()
    } catch (error) {
      await session.close()
      throw error
    }
  }
}
