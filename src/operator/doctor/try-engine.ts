import type { Config } from '../../config/read-config.ts'
import { EngineOpenError } from '../../conversation/engine/voice-engine.ts'
import { createChatModel } from '../../conversation/engines/cascade/chat-model.ts'
import { ProviderError } from '../../conversation/engines/cascade/provider-error.ts'
import { createProviderFetch } from '../../conversation/engines/cascade/provider-fetch.ts'
import type { LinkSettings, OpenedLink } from '../../conversation/engines/realtime/link-settings.ts'
import { openLink } from '../../conversation/engines/realtime/open-link.ts'
import type { TuningMember } from '../../conversation/engines/realtime/session-tuning.ts'
import { failed, messageOf, ok, warning, type Finding } from './finding.ts'

type Engines = Config['engines']
type Installed = Engines['stt']

/** A server that takes longer would keep a callee waiting. */
const tryLimitMs = 20_000

/** A tool like those of agents, which the model is asked to use. */
const tool = {
  name: 'report_number',
  description: 'Reports a number.',
  parameters: {
    type: 'object',
    properties: { number: { type: 'integer' } },
    required: ['number'],
    additionalProperties: false,
  },
}

/**
 * Uses every configured AI server once, as a call would, and reports what each can do. It costs a few tokens. Never
 * throws.
 */
export const tryEngine = async (engines: Engines): Promise<Finding[]> => {
  const { realtime, stt, llm, tts } = engines
  const trials = [
    ...(realtime.url === undefined ? [] : [tryRealtime(realtime, realtime.url)]),
    ...(stt.url === undefined ? [] : [tryHttp('OUTDIAL_STT', stt, stt.url, transcribe)]),
    ...(llm.url === undefined ? [] : [tryHttp('OUTDIAL_LLM', llm, llm.url, chat)]),
    ...(tts.url === undefined ? [] : [tryHttp('OUTDIAL_TTS', tts, tts.url, speak)]),
  ]
  const findings = (await Promise.all(trials)).flat()
  if (findings.length > 0) return findings
  return [ok('engine', 'No AI server is set: sandbox organizations use the scripted engine.')]
}

const tryRealtime = async (installed: Engines['realtime'], url: string): Promise<Finding[]> => {
  const { host } = new URL(url)
  const given = Object.entries(installed).filter(([, value]) => value !== undefined)
  const settings: LinkSettings = { url, ...Object.fromEntries(given) }
  const session = {
    callId: 'doctor',
    codec: 'pcmu',
    instructions: 'You are tested.',
    greeting: '',
    language: 'en-US',
    tools: [tool],
  } as const
  try {
    const link = await openLink(settings, session, AbortSignal.timeout(tryLimitMs))
    link.socket.on('error', () => {})
    link.socket.terminate()
    return describeLink(link, host)
  } catch (error) {
    return [failed('engine', describeRefusal(error, host))]
  }
}

const describeLink = (link: OpenedLink, host: string): Finding[] => {
  const { format } = link.wire
  const audio =
    format.kind === 'g711'
      ? 'G.711 as on the line'
      : `PCM at ${format.inputHz / 1_000} kHz in and ${format.outputHz / 1_000} kHz out`
  const isWritten = link.isTranscribed && !link.refused.includes('transcription')
  return [
    ok('engine', `${host} is reachable, takes the key and the tools, and speaks ${audio}.`),
    isWritten
      ? ok('engine', `${host} is asked for the callee's words, or writes them by itself.`)
      : warning(
          'engine',
          `${host} writes no words of the callee, so transcripts lack them: set OUTDIAL_REALTIME_TRANSCRIPTION_MODEL to a model or, on Azure, a deployment that it has.`,
        ),
    ...link.refused
      .filter((member) => member !== 'transcription')
      .map((member) =>
        warning(
          'engine',
          `${host} refuses ${member}, so calls go without it: unset ${settingOf[member]}.`,
        ),
      ),
  ]
}

const settingOf: Readonly<Record<TuningMember, string>> = {
  keywords: 'the keywords of the agent',
  noise_reduction: 'OUTDIAL_REALTIME_NOISE_REDUCTION',
  speed: 'OUTDIAL_REALTIME_SPEED',
  reasoning: 'OUTDIAL_REALTIME_REASONING_EFFORT',
  turn_detection: 'OUTDIAL_REALTIME_TURN_DETECTION',
  transcription: 'OUTDIAL_REALTIME_TRANSCRIPTION_MODEL',
}

const describeRefusal = (error: unknown, host: string): string => {
  const cause = error instanceof EngineOpenError ? messageOf(error.cause ?? '') : ''
  const status = /response: (\d{3})/.exec(cause)?.[1]
  if (status === '401' || status === '403')
    return `${host} refuses the key with ${status}: set OUTDIAL_REALTIME_KEY to one that it takes.`
  if (status !== undefined)
    return `${host} refuses the connection with ${status}: check the path of OUTDIAL_REALTIME_URL and OUTDIAL_REALTIME_MODEL.`
  if (!(error instanceof EngineOpenError))
    return `${host} opened no session within ${tryLimitMs / 1_000} s: check the server.`
  if (error.code === 'connection_error')
    return `${host} cannot be reached: check OUTDIAL_REALTIME_URL, the network and the server.`
  return `${host} opened no session (${error.code}: ${error.message}): check OUTDIAL_REALTIME_MODEL, OUTDIAL_REALTIME_VOICE and the account.`
}

/** What the server can do, or why it cannot be used. Throws what its request throws. */
type Trial = (server: Installed & { readonly url: string }) => Promise<string>

/** A server that answered, but not with what a call needs. The message ends with the remedy. */
class UnusableError extends Error {
  override readonly name = 'UnusableError'
}

const tryHttp = async (
  setting: string,
  server: Installed,
  url: string,
  trial: Trial,
): Promise<Finding[]> => {
  const { host } = new URL(url)
  try {
    return [ok('engine', `${host} ${await trial({ ...server, url })} (${setting}_URL).`)]
  } catch (error) {
    return [failed('engine', `${host} ${describeFailure(error, setting)}`)]
  }
}

const describeFailure = (error: unknown, setting: string): string => {
  const { status } = error as { status?: unknown }
  if (error instanceof UnusableError) return error.message
  if (status === 401 || status === 403)
    return `refuses the key with ${status}: set ${setting}_KEY to one that it takes.`
  if (status === 404)
    return `answers 404: check the path of ${setting}_URL, which mostly ends in /v1, and ${setting}_MODEL.`
  if (typeof status === 'number')
    return `answers ${status}: check ${setting}_MODEL and the server's log.`
  return `cannot be used (${messageOf(error)}): check ${setting}_URL, the network and the server.`
}

const chat: Trial = async ({ url, key, model }) => {
  const settings = { url, ...(key !== undefined && { key }), ...(model !== undefined && { model }) }
  const instructions = 'Call report_number with 7. Say nothing else.'
  const chatModel = createChatModel(settings, instructions, [tool], createProviderFetch(false))
  const messages = [{ role: 'user', content: 'Report the number.' }] as const
  let isCalled = false
  let isSpoken = false
  for await (const part of chatModel.reply(messages, AbortSignal.timeout(tryLimitMs))) {
    isCalled ||= part.type === 'tool_call'
    isSpoken ||= part.type === 'text' && part.text.trim() !== ''
  }
  if (!isCalled && !isSpoken)
    throw new UnusableError('answers with nothing: set OUTDIAL_LLM_MODEL to a chat model.')
  return isCalled
    ? 'is reachable, takes the key, replies as a stream and calls tools'
    : 'is reachable, takes the key and replies, but called no tool when it was told to: agents may not end calls by themselves'
}

const headersOf = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { authorization: `Bearer ${key}` }

const answered = async (response: Response): Promise<Response> => {
  if (response.ok) return response
  await response.body?.cancel()
  const message = `The server answered ${response.status}.`
  throw new ProviderError('trial_failed', message, { status: response.status })
}

const baseOf = (url: string): string => url.replace(/\/$/, '')

const soundRateHz = 16_000
const soundMs = 500

/** Silence as WAV: 16 bits, mono. */
const silentWav = (): Buffer<ArrayBuffer> => {
  const dataBytes = (2 * soundRateHz * soundMs) / 1_000
  const wav = Buffer.alloc(44 + dataBytes)
  wav.write('RIFF', 0, 'latin1')
  wav.writeUInt32LE(36 + dataBytes, 4)
  wav.write('WAVEfmt ', 8, 'latin1')
  wav.writeUInt32LE(16, 16)
  wav.writeUInt16LE(1, 20)
  wav.writeUInt16LE(1, 22)
  wav.writeUInt32LE(soundRateHz, 24)
  wav.writeUInt32LE(2 * soundRateHz, 28)
  wav.writeUInt16LE(2, 32)
  wav.writeUInt16LE(16, 34)
  wav.write('data', 36, 'latin1')
  wav.writeUInt32LE(dataBytes, 40)
  return wav
}

const transcribe: Trial = async ({ url, key, model = 'whisper-1' }) => {
  const form = new FormData()
  form.set('model', model)
  form.set('file', new Blob([silentWav()], { type: 'audio/wav' }), 'silence.wav')
  const response = await answered(
    await fetch(`${baseOf(url)}/audio/transcriptions`, {
      method: 'POST',
      headers: headersOf(key),
      body: form,
      redirect: 'manual',
      signal: AbortSignal.timeout(tryLimitMs),
    }),
  )
  await response.body?.cancel()
  return 'is reachable, takes the key and transcribes WAV at 16 kHz'
}

const speak: Trial = async ({ url, key, model = 'tts-1', ...rest }) => {
  const voice = 'voice' in rest && typeof rest.voice === 'string' ? rest.voice : 'alloy'
  const response = await answered(
    await fetch(`${baseOf(url)}/audio/speech`, {
      method: 'POST',
      headers: { ...headersOf(key), 'content-type': 'application/json' },
      body: JSON.stringify({ model, voice, input: 'Hello.', response_format: 'pcm' }),
      redirect: 'manual',
      signal: AbortSignal.timeout(tryLimitMs),
    }),
  )
  const type = response.headers.get('content-type') ?? 'audio'
  for await (const chunk of response.body ?? [])
    if (chunk.length > 0) return `is reachable, takes the key and speaks (${type.slice(0, 60)})`
  throw new UnusableError('answers without sound: set OUTDIAL_TTS_VOICE to a voice that it has.')
}
