import { createVoiceActivityDetector } from '../../../audio/voice-activity.ts'
import type { Logger } from '../../../runtime/logger.ts'
import { withCallRules } from '../../engine/call-rules.ts'
import {
  EngineOpenError,
  type SessionOptions,
  type VoiceEngine,
} from '../../engine/voice-engine.ts'
import { CascadeSession } from './cascade-session.ts'
import { createFailoverModel } from './failover-model.ts'
import { createGuessBudget } from './guess-budget.ts'
import { createProviderFetch } from './provider-fetch.ts'
import { ProviderError } from './provider-error.ts'
import { Lineup, type ProviderTrouble } from './providers/lineup.ts'
import { createProviderHealth } from './providers/provider-health.ts'
import type { ProviderSettings } from './providers/provider-settings.ts'
import type {
  ProviderStage,
  ModelKind,
  SynthesizerKind,
  TranscriberKind,
} from '../../../contract/provider-kinds.ts'
import { createSpeechCache } from './speech-cache.ts'
import { createSpeechSynthesizer } from './synthesizers/create-synthesizer.ts'
import { createFailoverSynthesizer } from './synthesizers/failover-synthesizer.ts'
import { createTranscriber } from './transcribers/create-transcriber.ts'

export interface CascadeEngineSettings {
  /** At least one of each, in the order of failover. */
  readonly stt: readonly ProviderSettings<TranscriberKind>[]
  readonly llm: readonly ProviderSettings<ModelKind>[]
  readonly tts: readonly ProviderSettings<SynthesizerKind>[]
  readonly logger: Logger
}

/** Shared by all calls of a thread. */
const speechCache = createSpeechCache()
const health = createProviderHealth()
const budget = createGuessBudget()
const openaiBase = 'https://api.openai.com/v1'

/**
 * Three providers in a row: a transcriber writes down what our own detector takes for the callee's speech, a chat model
 * replies, and its sentences are spoken one by one. Opening succeeds once the first words are ready to play.
 */
export const createCascadeEngine = (settings: CascadeEngineSettings): VoiceEngine => ({
  name: 'cascade',
  async open(options, signal) {
    signal.throwIfAborted()
    const session = await createSession(settings, options)
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

const createSession = async (
  settings: CascadeEngineSettings,
  options: SessionOptions,
): Promise<CascadeSession> => {
  const { logger } = settings
  // Only the first call that needs the SDK loads it, because most installations never do.
  const { createChatModel } = await import('./chat-model.ts')
  const onTrouble = (trouble: ProviderTrouble): void => {
    const message = trouble.next === undefined ? 'a provider failed' : 'a provider was replaced'
    logger.warn({ call_id: options.callId, ...trouble }, message)
  }
  const lineup = <Kind extends string, T>(
    stage: ProviderStage,
    members: readonly ProviderSettings<Kind>[],
    create: (member: ProviderSettings<Kind>) => T,
  ): Lineup<T> =>
    new Lineup(
      members.map((member) => ({ settings: member, provider: create(member) })),
      { stage, health, onTrouble },
    )

  const { language, codec, tools } = options
  const instructions = withCallRules(options.instructions)
  const voices = withVoice(settings.tts, options.voice)
  const synthesizers = lineup('tts', voices, (member) => createSpeechSynthesizer(member, language))
  const models = lineup('llm', settings.llm, (member) => {
    const request = createProviderFetch(member.publicHostsOnly === true)
    const server = { ...member, url: member.url ?? openaiBase }
    return createChatModel(server, instructions, tools, request)
  })
  const keyOf = ({ id, url, model, voice }: ProviderSettings, text: string): string =>
    JSON.stringify([id, url, model, voice, codec, language, text])
  return new CascadeSession({
    transcribers: lineup('stt', settings.stt, (member) => createTranscriber(member, options)),
    model: createFailoverModel(models),
    synthesizer: createFailoverSynthesizer(synthesizers),
    cache: speechCache,
    cacheKeys: (text) => {
      const { current, members } = synthesizers
      const others = members.filter((member) => member !== current)
      return [current, ...others].map(({ settings: member }) => keyOf(member, text))
    },
    budget,
    voiceActivity: await createVoiceActivityDetector(),
    options,
    logger,
  })
}

/** The agent's voice is one of its first provider: the others would not know it. */
const withVoice = <Kind extends string>(
  [first, ...others]: readonly ProviderSettings<Kind>[],
  voice: string | undefined,
): readonly ProviderSettings<Kind>[] =>
  first === undefined ? [] : [{ ...first, ...(voice !== undefined && { voice }) }, ...others]
