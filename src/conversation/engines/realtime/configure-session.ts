import { WebSocket } from 'ws'
import { EngineOpenError, type SessionOptions } from '../../engine/voice-engine.ts'
import { codeOf, isFinalCode } from './link-loss.ts'
import type { Inbox } from './link-inbox.ts'
import type { LinkSettings, OpenedLink } from './link-settings.ts'
import type { Dialect, RealtimeProfile } from './profiles.ts'
import type { ProtocolError, ServerEvent } from './protocol.ts'
import {
  learnedSessions,
  refusedMember,
  withoutMembers,
  type TuningMember,
} from './session-tuning.ts'
import {
  describedSession,
  sessionUpdate,
  tuningMembers,
  type DescribedSession,
  type SessionSettings,
  type TranscriptionRequest,
} from './session-update.ts'
import { createWireAudio, type WireFormat } from './wire-audio.ts'

interface Handshake {
  readonly socket: WebSocket
  readonly inbox: Inbox
  readonly profile: RealtimeProfile
  readonly settings: LinkSettings
  readonly options: SessionOptions
}

const answerLimitMs = 10_000
/** A server of unknown dialect that has not described itself by then is assumed to use the present one. */
const introductionLimitMs = 1_000
/** A server that complains about a member and takes the rest sends `session.updated` right after the error. */
const complaintLimitMs = 1_000
/** Formats, and members that the server may lack, all together. */
const maxUpdates = 8
/** A server's stated end of a session is trusted within this range, because clocks differ. */
const leastCapMs = 2 * 60_000

/**
 * Has the server accept the settings. What it refuses and a call can do without is left out, and remembered for the
 * next session. Rejects with `EngineOpenError`.
 */
export const configureSession = async (handshake: Handshake): Promise<OpenedLink> => {
  const { inbox, profile, socket, options, settings } = handshake
  await inbox.opened
  const described = describedSession(
    profile.dialect === 'described' ? await introduction(inbox) : undefined,
  )
  const dialect = profile.dialect === 'described' ? (described.dialect ?? 'ga') : profile.dialect
  const formats = formatsOf(handshake, described)
  const learnedAs = JSON.stringify([settings.url, settings.model, tuningKey(settings)])
  const learned = learnedSessions.get(learnedAs)
  const trial: Trial = {
    format: Math.min(learned?.format ?? 0, formats.length - 1),
    refused: new Set(learned?.refused),
  }
  const taken = await agree(handshake, { dialect, formats, described, trial })
  if (trial.format > 0 || trial.refused.size > 0)
    learnedSessions.set(learnedAs, { format: trial.format, refused: trial.refused })
  const asked = formats[trial.format] ?? profile.formats[0]
  const mayDiffer = profile.reportsFormat && settings.wireFormat === undefined
  const format = (mayDiffer ? taken.wireFormat : undefined) ?? asked
  if (!format) throw new EngineOpenError('no_format', 'The server has no audio format.')
  const request = transcriptionFor(handshake, described)
  return {
    socket,
    wire: createWireAudio(format, options.codec),
    dialect,
    speechTimes: described.isSpeaches ? 'arrival' : profile.speechTimes,
    refused: [...trial.refused],
    isTranscribed:
      (request !== undefined && !trial.refused.has('transcription')) ||
      described.hasTranscription ||
      (profile.transcription.kind === 'none' && profile.keyHeader !== 'api-key'),
    capMs: profile.sessionCapMs ?? capOf(taken.expiresAt ?? described.expiresAt),
  }
}

/** What is tried; a refusal changes it. */
interface Trial {
  format: number
  readonly refused: Set<TuningMember>
}

interface Terms {
  readonly dialect: Dialect
  readonly formats: readonly WireFormat[]
  readonly described: DescribedSession
  readonly trial: Trial
}

const agree = async (handshake: Handshake, terms: Terms): Promise<DescribedSession> => {
  for (let updates = 1; ; updates += 1) {
    const settings = settingsFor(handshake, terms)
    const asked = tuningMembers(settings)
    const answer = await update(handshake, terms.dialect, settings)
    if (answer.type !== 'error')
      return describedSession('session' in answer ? answer.session : undefined)
    if (updates >= maxUpdates || !yieldTo(handshake.socket, answer.error, asked, terms))
      throw new EngineOpenError(codeOf(answer.error), answer.error.message ?? 'Refused.')
    handshake.inbox.drop('error')
  }
}

/** Leaves out what the server refuses; false if there is nothing to leave out. */
const yieldTo = (
  socket: WebSocket,
  error: ProtocolError,
  asked: readonly TuningMember[],
  { formats, trial }: Terms,
): boolean => {
  if (isFinalCode(codeOf(error)) || socket.readyState !== WebSocket.OPEN) return false
  const member = refusedMember(error, asked)
  if (member !== undefined) {
    trial.refused.add(member)
    return true
  }
  if (isAboutFormat(error) && trial.format + 1 < formats.length) {
    trial.format += 1
    return true
  }
  for (const each of asked) trial.refused.add(each)
  return asked.length > 0
}

const settingsFor = (
  handshake: Handshake,
  { described, formats, trial }: Terms,
): SessionSettings => {
  const { settings, options, profile } = handshake
  const { refused } = trial
  return {
    options,
    voice: options.voice ?? settings.voice,
    model: profile.modelPlace === 'session' ? settings.model : undefined,
    transcription: refused.has('transcription')
      ? undefined
      : transcriptionFor(handshake, described),
    tuning: withoutMembers(settings, refused),
    wireFormat: formats[trial.format] ?? { kind: 'g711' },
  }
}

const transcriptionFor = (
  { settings, profile }: Handshake,
  described: DescribedSession,
): TranscriptionRequest | undefined => {
  if (settings.transcriptionModel !== undefined) return { model: settings.transcriptionModel }
  const { transcription } = profile
  switch (transcription.kind) {
    case 'model':
      return { model: transcription.model }
    case 'described':
      return described.hasTranscription ? undefined : { model: transcription.model }
    case 'language':
      return { model: undefined }
    case 'none':
      return undefined
  }
}

/** A server that describes PCM is sent what it describes; what it says of G.711 before it is asked is a default. */
const formatsOf = (
  { profile, settings }: Handshake,
  described: DescribedSession,
): readonly WireFormat[] => {
  if (settings.wireFormat) return [settings.wireFormat]
  const own = profile.reportsFormat ? described.wireFormat : undefined
  if (own === undefined || own.kind === 'g711') return profile.formats
  return [own, ...profile.formats]
}

const tuningKey = (settings: LinkSettings): object => ({
  ...withoutMembers(settings, new Set()),
  transcriptionModel: settings.transcriptionModel,
})

const introduction = async (inbox: Inbox): Promise<unknown> => {
  const event = await inbox.next(['session.created'], introductionLimitMs)
  return event && 'session' in event ? event.session : undefined
}

const update = async (
  { socket, inbox }: Handshake,
  dialect: Dialect,
  settings: SessionSettings,
): Promise<ServerEvent> => {
  const session = sessionUpdate(dialect, settings)
  socket.send(JSON.stringify({ type: 'session.update', session }))
  const answer = await inbox.next(['session.updated', 'error'], answerLimitMs)
  if (!answer) throw new EngineOpenError('open_timeout', 'The server did not open a session.')
  if (answer.type !== 'error' || isFinalCode(codeOf(answer.error))) return answer
  return (await accepted(inbox)) ?? answer
}

/** `session.updated` behind a complaint; undefined where none comes, or where the server hangs up instead. */
const accepted = async (inbox: Inbox): Promise<ServerEvent | undefined> => {
  try {
    return await inbox.next(['session.updated'], complaintLimitMs)
  } catch (error) {
    if (error instanceof EngineOpenError) return undefined
    throw error
  }
}

const isAboutFormat = ({ code, message, param }: ProtocolError): boolean =>
  /(?:audio|[._ ]|^)format\b|g711|pcm/i.test(`${code ?? ''} ${message ?? ''} ${param ?? ''}`)

const capOf = (expiresAt: number | undefined): number | undefined =>
  expiresAt === undefined ? undefined : Math.max(leastCapMs, expiresAt * 1000 - Date.now())
