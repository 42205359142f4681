import { withCallRules } from '../../engine/call-rules.ts'
import type { SessionOptions } from '../../engine/voice-engine.ts'
import type { Dialect } from './profiles.ts'
import type { WireFormat } from './wire-audio.ts'

interface SessionSettings {
  readonly options: Omit<SessionOptions, 'callId'>
  readonly voice: string | undefined
  readonly transcriptionModel: string
  readonly wireFormat: WireFormat
}

/** Silence after which the callee counts as finished. */
const endOfTurnSilenceMs = 500
const pcmRateHz = 24_000

/** The `session` of a `session.update` in this dialect. */
export const sessionUpdate = (dialect: Dialect, settings: SessionSettings): object => {
  const { options } = settings
  const common = {
    instructions: withCallRules(options.instructions),
    tools: options.tools.map((tool) => ({ type: 'function', ...tool })),
    tool_choice: 'auto',
  }
  return {
    ...common,
    ...(dialect === 'beta' ? flatAudio(settings) : nestedAudio(dialect, settings)),
  }
}

// The server replies by itself when the callee has finished, which saves a round trip. Interruptions are decided
// here, where the playout is.
const turnDetection = {
  type: 'server_vad',
  silence_duration_ms: endOfTurnSilenceMs,
  create_response: true,
  interrupt_response: false,
}

const transcription = ({ options, transcriptionModel }: SessionSettings): object => ({
  model: transcriptionModel,
  language: options.language.split('-')[0],
})

const nestedAudio = (dialect: Dialect, settings: SessionSettings): object => {
  const { options, voice, wireFormat } = settings
  const format =
    wireFormat === 'g711'
      ? { type: `audio/${options.codec}` }
      : { type: 'audio/pcm', rate: pcmRateHz }
  const voiceMember = voice === undefined ? {} : { voice }
  if (dialect === 'xai') {
    const audio = { input: { format }, output: { format } }
    return { ...voiceMember, turn_detection: turnDetection, audio }
  }
  return {
    type: 'realtime',
    output_modalities: ['audio'],
    audio: {
      input: { format, transcription: transcription(settings), turn_detection: turnDetection },
      output: { format, ...voiceMember },
    },
  }
}

const flatAudio = (settings: SessionSettings): object => {
  const { options, voice, wireFormat } = settings
  const law = options.codec === 'pcmu' ? 'g711_ulaw' : 'g711_alaw'
  const format = wireFormat === 'g711' ? law : 'pcm16'
  return {
    modalities: ['audio', 'text'],
    input_audio_format: format,
    output_audio_format: format,
    input_audio_transcription: transcription(settings),
    turn_detection: turnDetection,
    ...(voice !== undefined && { voice }),
  }
}

/**
 * The server's description of its session in `session.created` and `session.updated`, as far as it matters here.
 */
interface DescribedSession {
  readonly dialect: Dialect | undefined
  readonly wireFormat: WireFormat | undefined
  /** Unix time in seconds. */
  readonly expiresAt: number | undefined
}

/** Reads either dialect; never throws. */
export const describedSession = (session: unknown): DescribedSession => {
  const flat = membersOf(session)
  const nested = membersOf(membersOf(membersOf(flat['audio'])['input'])['format'])['type']
  const format = flat['input_audio_format'] ?? nested
  const isFlat = 'input_audio_format' in flat || 'modalities' in flat
  const isNested = 'audio' in flat || 'output_modalities' in flat || flat['type'] === 'realtime'
  return {
    dialect: isFlat ? 'beta' : isNested ? 'ga' : undefined,
    wireFormat: typeof format === 'string' ? formatOf(format) : undefined,
    expiresAt: typeof flat['expires_at'] === 'number' ? flat['expires_at'] : undefined,
  }
}

const formatOf = (name: string): WireFormat =>
  /^(?:g711_|audio\/pcm[ua]$)/.test(name) ? 'g711' : 'pcm16'

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {}
