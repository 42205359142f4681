import { WebSocket } from 'ws'
import type { Logger } from '../../../runtime/logger.ts'
import { withCallRules } from '../../call-rules.ts'
import { EngineOpenError, type SessionOptions, type VoiceEngine } from '../../voice-engine.ts'
import { parseServerEvent, type ServerEvent } from './protocol.ts'
import { createRealtimeSession } from './realtime-session.ts'
import { createWireAudio, type WireFormat } from './wire-audio.ts'

export interface RealtimeEngineSettings {
  /** `ws://` or `wss://`, with its path (`wss://api.openai.com/v1/realtime`). */
  readonly url: string
  readonly key?: string
  readonly model?: string
  /** Used where the agent names none. */
  readonly voice?: string
  /** What transcribes the callee; the servers we know accept or ignore this name. */
  readonly transcriptionModel?: string
  /** `g711` unless the server knows PCM only. */
  readonly wireFormat?: WireFormat
  readonly logger: Logger
}

const openLimitMs = 10_000
const maxMessageBytes = 4 * 1024 * 1024
/** Silence after which the callee is taken to have finished. */
const endOfTurnSilenceMs = 500
const defaultTranscriptionModel = 'gpt-4o-mini-transcribe'

/** Any server of the OpenAI Realtime protocol: OpenAI, Azure, xAI, LocalAI, speaches, and the sandbox's scripted model. */
export const createRealtimeEngine = (settings: RealtimeEngineSettings): VoiceEngine => ({
  name: 'realtime',
  async open(options, signal) {
    signal.throwIfAborted()
    const wire = createWireAudio(settings.wireFormat ?? 'g711', options.codec)
    const socket = connect(settings)
    try {
      await configure(socket, sessionUpdate(settings, options, wire.format), signal)
    } catch (error) {
      socket.terminate()
      throw error
    }
    const session = createRealtimeSession(socket, options, wire, settings.logger)
    if (options.greeting.trim() !== '') session.say(options.greeting)
    return session
  },
})

const connect = ({ url, key, model }: RealtimeEngineSettings): WebSocket => {
  const address = new URL(url)
  if (model !== undefined) address.searchParams.set('model', model)
  // Azure takes its key in a header of its own.
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}`, 'api-key': key }
  return new WebSocket(address, {
    headers: address.hostname.endsWith('.azure.com') ? headers : withoutAzureKey(headers),
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    handshakeTimeout: openLimitMs,
  })
}

const withoutAzureKey = ({ authorization }: { authorization?: string }): Record<string, string> =>
  authorization === undefined ? {} : { authorization }

const sessionUpdate = (
  settings: RealtimeEngineSettings,
  options: SessionOptions,
  format: object,
): object => {
  const voice = options.voice ?? settings.voice
  const [language] = options.language.split('-')
  return {
    type: 'realtime',
    output_modalities: ['audio'],
    instructions: withCallRules(options.instructions),
    audio: {
      input: {
        format,
        transcription: {
          model: settings.transcriptionModel ?? defaultTranscriptionModel,
          language,
        },
        // The server answers by itself when the callee has finished, which saves a round trip; whether the callee
        // interrupted is decided here, where the playout is.
        turn_detection: {
          type: 'server_vad',
          silence_duration_ms: endOfTurnSilenceMs,
          create_response: true,
          interrupt_response: false,
        },
      },
      output: { format, ...(voice !== undefined && { voice }) },
    },
    tools: options.tools.map((tool) => ({ type: 'function', ...tool })),
    tool_choice: 'auto',
  }
}

/** Resolves when the server has taken the session's settings. */
const configure = (socket: WebSocket, session: object, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const limit = setTimeout(
      () => settle(new EngineOpenError('open_timeout', 'The server did not open a session.')),
      openLimitMs,
    )
    const settle = (error?: unknown): void => {
      clearTimeout(limit)
      signal.removeEventListener('abort', onAbort)
      socket.off('open', onOpen)
      socket.off('message', onMessage)
      socket.off('close', onClose)
      // The `error` listener stays until the session has its own: an error without one would end the process.
      if (error === undefined) resolve()
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- an abort reason is whatever the caller gave.
      else reject(error)
    }
    const onAbort = (): void => settle(signal.reason)
    const onOpen = (): void => socket.send(JSON.stringify({ type: 'session.update', session }))
    const onMessage = (data: Buffer): void => {
      const event = parseServerEvent(data.toString('utf8'))
      if (event?.type === 'session.updated') settle()
      if (event?.type === 'error') settle(refused(event))
    }
    const onClose = (code: number): void =>
      settle(new EngineOpenError('connection_closed', `The server closed with ${code}.`))
    signal.addEventListener('abort', onAbort, { once: true })
    socket.on('open', onOpen)
    socket.on('message', onMessage)
    socket.on('close', onClose)
    socket.on('error', (cause) =>
      settle(new EngineOpenError('connection_error', 'The server cannot be reached.', { cause })),
    )
  })

const refused = ({ error }: Extract<ServerEvent, { type: 'error' }>): EngineOpenError =>
  new EngineOpenError(error.code ?? error.type ?? 'unknown', error.message ?? 'Refused.')
