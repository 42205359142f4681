import type { LookupFunction } from 'node:net'
import { WebSocket } from 'ws'
import { lookupPublic, refusePrivateLiteral } from '../../../runtime/public-lookup.ts'
import { EngineOpenError, type SessionOptions } from '../../engine/voice-engine.ts'
import { addressOf, profileFor, type Dialect, type RealtimeProfile } from './profiles.ts'
import { parseServerEvent, type ProtocolError, type ServerEvent } from './protocol.ts'
import { describedSession, sessionUpdate } from './session-update.ts'
import { createWireAudio, type WireAudio, type WireFormat } from './wire-audio.ts'

export interface LinkSettings {
  /** `ws://` or `wss://`, with its path (`wss://api.openai.com/v1/realtime`); its fragment may name a profile. */
  readonly url: string
  readonly key?: string
  readonly model?: string
  /** Used when the agent names none. */
  readonly voice?: string
  /** The transcriber's model name; the known servers accept or ignore it. */
  readonly transcriptionModel?: string
  /** The profile's value, if omitted. */
  readonly wireFormat?: WireFormat
  /** A tenant supplied the address: only public hosts are allowed. */
  readonly publicHostsOnly?: boolean
  /** Additional trusted authorities, PEM; for servers with their own certificate. */
  readonly ca?: string
}

/** A socket whose session has accepted its settings. */
export interface OpenedLink {
  readonly socket: WebSocket
  readonly wire: WireAudio
  readonly dialect: Dialect
  /** How long from now until the server ends the session; `undefined` if it is not known to do so. */
  readonly capMs: number | undefined
}

const openLimitMs = 10_000
/** A server of unknown dialect that has not described itself by then is assumed to use the present one. */
const introductionLimitMs = 1_000
const maxMessageBytes = 4 * 1024 * 1024
const defaultTranscriptionModel = 'gpt-4o-mini-transcribe'
/** A server's stated end of a session is trusted within this range, because clocks differ. */
const leastCapMs = 2 * 60_000

/**
 * Connects, learns the server's dialect if it is unknown, and configures the session. Rejects with
 * `EngineOpenError`.
 */
export const openLink = async (
  settings: LinkSettings,
  options: SessionOptions,
  signal: AbortSignal,
): Promise<OpenedLink> => {
  signal.throwIfAborted()
  const url = new URL(settings.url)
  const profile = profileFor(url)
  const socket = connect(url, profile, settings)
  const inbox = createInbox(socket, signal)
  try {
    return await configure({ socket, inbox, profile, settings, options })
  } catch (error) {
    socket.terminate()
    throw error
  } finally {
    inbox.close()
  }
}

const connect = (url: URL, profile: RealtimeProfile, settings: LinkSettings): WebSocket => {
  const { address, headers } = addressOf(url, profile, settings)
  const guard: { lookup?: LookupFunction } = settings.publicHostsOnly
    ? { lookup: lookupPublic }
    : {}
  try {
    if (settings.publicHostsOnly) refusePrivateLiteral(address)
  } catch (cause) {
    throw new EngineOpenError('private_address', 'The engine lies in a private network.', { cause })
  }
  return new WebSocket(address, {
    headers: { ...headers },
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    handshakeTimeout: openLimitMs,
    followRedirects: false,
    ...guard,
    ...(settings.ca !== undefined && { ca: settings.ca }),
  })
}

interface Handshake {
  readonly socket: WebSocket
  readonly inbox: Inbox
  readonly profile: RealtimeProfile
  readonly settings: LinkSettings
  readonly options: SessionOptions
}

const configure = async (handshake: Handshake): Promise<OpenedLink> => {
  const { inbox, profile, settings, options, socket } = handshake
  await inbox.opened
  const introduced = profile.dialect === 'described' ? await introduction(inbox) : undefined
  const described = describedSession(introduced)
  const dialect = profile.dialect === 'described' ? (described.dialect ?? 'ga') : profile.dialect
  const wanted =
    settings.wireFormat ?? (profile.wireFormat === 'described' ? 'g711' : profile.wireFormat)
  const mayFallBack = settings.wireFormat === undefined && profile.wireFormat === 'described'
  let wireFormat = wanted
  let answer = await update(handshake, dialect, wireFormat)
  if (
    answer.type === 'error' &&
    mayFallBack &&
    wireFormat === 'g711' &&
    isAboutFormat(answer.error)
  ) {
    wireFormat = 'pcm16'
    answer = await update(handshake, dialect, wireFormat)
  }
  if (answer.type === 'error') throw refused(answer.error)
  const taken = describedSession('session' in answer ? answer.session : undefined)
  // A PCM-only server may report that instead of refusing.
  if (mayFallBack && taken.wireFormat !== undefined) wireFormat = taken.wireFormat
  return {
    socket,
    wire: createWireAudio(wireFormat, options.codec),
    dialect,
    capMs: profile.sessionCapMs ?? capOf(taken.expiresAt ?? described.expiresAt),
  }
}

const introduction = async (inbox: Inbox): Promise<unknown> => {
  const event = await inbox.next(['session.created'], introductionLimitMs)
  return event && 'session' in event ? event.session : undefined
}

const update = async (
  { socket, inbox, settings, options }: Handshake,
  dialect: Dialect,
  wireFormat: WireFormat,
): Promise<ServerEvent> => {
  const session = sessionUpdate(dialect, {
    options,
    voice: options.voice ?? settings.voice,
    transcriptionModel: settings.transcriptionModel ?? defaultTranscriptionModel,
    wireFormat,
  })
  socket.send(JSON.stringify({ type: 'session.update', session }))
  const answer = await inbox.next(['session.updated', 'error'], openLimitMs)
  if (!answer) throw new EngineOpenError('open_timeout', 'The server did not open a session.')
  return answer
}

const isAboutFormat = ({ message, param }: ProtocolError): boolean =>
  /format|g711|pcm/i.test(`${message ?? ''} ${param ?? ''}`)

const refused = (error: ProtocolError): EngineOpenError =>
  new EngineOpenError(error.code ?? error.type ?? 'unknown', error.message ?? 'Refused.')

const capOf = (expiresAt: number | undefined): number | undefined =>
  expiresAt === undefined ? undefined : Math.max(leastCapMs, expiresAt * 1000 - Date.now())

/** The server's messages while the session is being opened. */
interface Inbox {
  readonly opened: Promise<void>
  /**
   * The next event of one of these types; `undefined` if none comes in time. Rejects when the socket ends or the
   * signal aborts.
   */
  next(types: readonly ServerEvent['type'][], limitMs: number): Promise<ServerEvent | undefined>
  /**
   * The `error` listener stays until the session has its own: an error without a listener would end the process.
   */
  close(): void
}

const maxEarlyEvents = 16

const createInbox = (socket: WebSocket, signal: AbortSignal): Inbox => {
  const early: ServerEvent[] = []
  const broken = Promise.withResolvers<never>()
  const opened = Promise.withResolvers<void>()
  broken.promise.catch(() => undefined)
  let take: ((event: ServerEvent) => boolean) | undefined

  const onMessage = (data: Buffer): void => {
    const event = parseServerEvent(data.toString('utf8'))
    if (!event || take?.(event)) return
    if (early.length < maxEarlyEvents) early.push(event)
  }
  const onClose = (code: number): void =>
    broken.reject(new EngineOpenError('connection_closed', `The server closed with ${code}.`))
  // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- an abort reason is whatever the caller gave.
  const onAbort = (): void => broken.reject(signal.reason)
  socket.on('open', () => opened.resolve())
  socket.on('message', onMessage)
  socket.on('close', onClose)
  socket.on('error', (cause) =>
    broken.reject(
      new EngineOpenError('connection_error', 'The server cannot be reached.', { cause }),
    ),
  )
  signal.addEventListener('abort', onAbort, { once: true })

  return {
    opened: Promise.race([opened.promise, broken.promise]),
    async next(types, limitMs) {
      const at = early.findIndex(({ type }) => types.includes(type))
      if (at >= 0) return early.splice(at, 1)[0]
      const found = Promise.withResolvers<ServerEvent | undefined>()
      const limit = setTimeout(() => found.resolve(undefined), limitMs)
      take = (event) => {
        const fits = types.includes(event.type)
        if (fits) found.resolve(event)
        return fits
      }
      try {
        return await Promise.race([found.promise, broken.promise])
      } finally {
        clearTimeout(limit)
        take = undefined
      }
    },
    close() {
      signal.removeEventListener('abort', onAbort)
      socket.off('message', onMessage)
      socket.off('close', onClose)
    },
  }
}
