import { withCallRules } from '../../engine/call-rules.ts'
import type { SessionOptions } from '../../engine/voice-engine.ts'
import type { Dialect } from './profiles.ts'
import type { SessionTuning, TuningMember } from './session-tuning.ts'
import { pcmWire, type WireFormat } from './wire-audio.ts'

export interface SessionSettings {
  readonly options: Omit<SessionOptions, 'callId'>
  readonly voice: string | undefined
  /** Only where the server wants it in the session instead of its address. */
  readonly model: string | undefined
  readonly transcription: TranscriptionRequest | undefined
  readonly tuning: SessionTuning
  readonly wireFormat: WireFormat
}

/** Without a model: the server's own, in the agent's language. */
export interface TranscriptionRequest {
  readonly model: string | undefined
}

/** Silence after which the callee counts as finished. */
const endOfTurnSilenceMs = 500
/** As most servers have it by themselves. */
const qwenThreshold = 0.5

/** The `session` of a `session.update` in this dialect. */
export const sessionUpdate = (dialect: Dialect, settings: SessionSettings): object => {
  const { options, model } = settings
  const common = {
    ...(model !== undefined && { model }),
    instructions: withCallRules(options.instructions),
    tools: options.tools.map((tool) =>
      dialect === 'qwen' ? { type: 'function', function: tool } : { type: 'function', ...tool },
    ),
    ...(dialect !== 'qwen' && { tool_choice: 'auto' }),
  }
  return { ...common, ...audioOf[dialect](settings) }
}

/**
 * The members of these settings that a server may lack, in the order in which a refusal is held against them.
 */
export const tuningMembers = ({ transcription, tuning }: SessionSettings): TuningMember[] => {
  const asked: Readonly<Record<TuningMember, boolean>> = {
    keywords: tuning.keywords !== undefined && transcription !== undefined,
    noise_reduction: tuning.noiseReduction !== undefined,
    speed: tuning.speed !== undefined,
    reasoning: tuning.reasoningEffort !== undefined,
    turn_detection: tuning.turnDetection === 'semantic_vad',
    transcription: transcription !== undefined,
  }
  return (Object.keys(asked) as TuningMember[]).filter((member) => asked[member])
}

// Interruptions are decided here, where the playout is. The server replies by itself when the callee has finished, unless
// the loop owns the turns.
const replyingOf = ({ options }: SessionSettings): object => ({
  create_response: options.turns !== 'loop',
  interrupt_response: false,
})

const turnDetection = (settings: SessionSettings): object => {
  const { tuning } = settings
  const replying = replyingOf(settings)
  return tuning.turnDetection === 'semantic_vad'
    ? {
        type: 'semantic_vad',
        ...(tuning.eagerness !== undefined && { eagerness: tuning.eagerness }),
        ...replying,
      }
    : { type: 'server_vad', silence_duration_ms: endOfTurnSilenceMs, ...replying }
}

const languageOf = ({ options }: SessionSettings): string | undefined =>
  options.language.split('-')[0]

const transcriptionOf = (settings: SessionSettings): object | undefined => {
  const { transcription, tuning } = settings
  if (transcription === undefined) return undefined
  return {
    ...(transcription.model !== undefined && { model: transcription.model }),
    language: languageOf(settings),
    ...(tuning.keywords !== undefined && { keywords: tuning.keywords }),
  }
}

const gaFormats = ({ options, wireFormat }: SessionSettings): readonly [object, object] => {
  if (wireFormat.kind === 'pcm')
    return [
      { type: 'audio/pcm', rate: wireFormat.inputHz },
      { type: 'audio/pcm', rate: wireFormat.outputHz },
    ]
  const law = { type: `audio/${options.codec}` }
  return [law, law]
}

const speedOf = ({ tuning }: SessionSettings): object =>
  tuning.speed === undefined ? {} : { speed: tuning.speed }

const reasoningOf = ({ tuning }: SessionSettings): object =>
  tuning.reasoningEffort === undefined ? {} : { reasoning: { effort: tuning.reasoningEffort } }

const voiceOf = ({ voice }: SessionSettings): object => (voice === undefined ? {} : { voice })

const gaAudio = (settings: SessionSettings): object => {
  const [input, output] = gaFormats(settings)
  const { noiseReduction } = settings.tuning
  const transcription = transcriptionOf(settings)
  return {
    type: 'realtime',
    output_modalities: ['audio'],
    ...reasoningOf(settings),
    audio: {
      input: {
        format: input,
        ...(transcription && { transcription }),
        ...(noiseReduction !== undefined && { noise_reduction: { type: noiseReduction } }),
        turn_detection: turnDetection(settings),
      },
      output: { format: output, ...voiceOf(settings), ...speedOf(settings) },
    },
  }
}

const betaAudio = (settings: SessionSettings): object => {
  const { options, wireFormat, tuning } = settings
  const law = options.codec === 'pcmu' ? 'g711_ulaw' : 'g711_alaw'
  const format = wireFormat.kind === 'g711' ? law : 'pcm16'
  const transcription = transcriptionOf(settings)
  return {
    modalities: ['audio', 'text'],
    input_audio_format: format,
    output_audio_format: format,
    ...(transcription && { input_audio_transcription: transcription }),
    ...(tuning.noiseReduction !== undefined && {
      input_audio_noise_reduction: { type: tuning.noiseReduction },
    }),
    turn_detection: turnDetection(settings),
    ...voiceOf(settings),
    ...speedOf(settings),
  }
}

const xaiAudio = (settings: SessionSettings): object => {
  const [input, output] = gaFormats(settings)
  const { transcription, tuning } = settings
  const words = transcription && {
    ...transcription,
    language_hint: languageOf(settings),
    ...(tuning.keywords !== undefined && { keyterms: tuning.keywords }),
  }
  return {
    ...voiceOf(settings),
    ...reasoningOf(settings),
    turn_detection: turnDetection(settings),
    audio: {
      input: { format: input, ...(words && { transcription: words }) },
      output: { format: output, ...speedOf(settings) },
    },
  }
}

const qwenAudio = (settings: SessionSettings): object => {
  const { transcription, tuning } = settings
  const type = tuning.turnDetection ?? 'server_vad'
  return {
    modalities: ['text', 'audio'],
    input_audio_format: 'pcm',
    output_audio_format: 'pcm',
    ...(transcription?.model !== undefined && {
      input_audio_transcription: { model: transcription.model },
    }),
    turn_detection: {
      type,
      threshold: qwenThreshold,
      silence_duration_ms: endOfTurnSilenceMs,
    },
    ...voiceOf(settings),
  }
}

const audioOf: Readonly<Record<Dialect, (settings: SessionSettings) => object>> = {
  ga: gaAudio,
  beta: betaAudio,
  xai: xaiAudio,
  qwen: qwenAudio,
}

/**
 * The server's description of its session in `session.created` and `session.updated`, as far as it matters here.
 */
export interface DescribedSession {
  readonly dialect: Dialect | undefined
  readonly wireFormat: WireFormat | undefined
  /** Whether it names a model that writes the callee's words. */
  readonly hasTranscription: boolean
  /** A member that only speaches has. */
  readonly isSpeaches: boolean
  /** Unix time in seconds. */
  readonly expiresAt: number | undefined
}

/** Reads either dialect; never throws. */
export const describedSession = (session: unknown): DescribedSession => {
  const flat = membersOf(session)
  const audio = membersOf(flat['audio'])
  const [input, output] = [membersOf(audio['input']), membersOf(audio['output'])]
  const isFlat = 'input_audio_format' in flat || 'modalities' in flat
  const isNested = 'audio' in flat || 'output_modalities' in flat || flat['type'] === 'realtime'
  const words = membersOf(flat['input_audio_transcription'] ?? input['transcription'])
  return {
    dialect: isFlat ? 'beta' : isNested ? 'ga' : undefined,
    wireFormat: formatOf(flat['input_audio_format'] ?? input['format'], output['format']),
    hasTranscription: typeof words['model'] === 'string',
    isSpeaches: 'speech_model' in flat,
    expiresAt: typeof flat['expires_at'] === 'number' ? flat['expires_at'] : undefined,
  }
}

const usualRateHz = 24_000
const usableRatesHz = new Set([8_000, 16_000, 24_000, 48_000])

const formatOf = (input: unknown, output: unknown): WireFormat | undefined => {
  const name = typeof input === 'string' ? input : membersOf(input)['type']
  if (typeof name !== 'string') return undefined
  if (/^(?:g711_|audio\/pcm[ua]$)/.test(name)) return { kind: 'g711' }
  const inputHz = rateOf(input) ?? usualRateHz
  return pcmWire(inputHz, rateOf(output) ?? inputHz)
}

const rateOf = (format: unknown): number | undefined => {
  const { rate, sample_rate: sampleRate } = membersOf(format)
  const named = rate ?? sampleRate
  return typeof named === 'number' && usableRatesHz.has(named) ? named : undefined
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {}
