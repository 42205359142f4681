import type { LookupFunction } from 'node:net'
import { WebSocket } from 'ws'
import { lookupPublic, refusePrivateLiteral } from '../../../runtime/public-lookup.ts'
import { EngineOpenError, type SessionOptions } from '../../engine/voice-engine.ts'
import { configureSession } from './configure-session.ts'
import { createInbox } from './link-inbox.ts'
import type { LinkSettings, OpenedLink } from './link-settings.ts'
import { addressOf, profileFor, type RealtimeProfile } from './profiles.ts'

const openLimitMs = 10_000
const maxMessageBytes = 4 * 1024 * 1024

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
  const socket = connect(url, profile, settings, options)
  const inbox = createInbox(socket, signal)
  try {
    return await configureSession({ socket, inbox, profile, settings, options })
  } catch (error) {
    socket.terminate()
    throw error
  } finally {
    inbox.close()
  }
}

const connect = (
  url: URL,
  profile: RealtimeProfile,
  settings: LinkSettings,
  { language }: SessionOptions,
): WebSocket => {
  const { address, headers } = addressOf(url, profile, settings)
  // speaches takes the language of the callee's words from the address only, unless a model is named.
  const [spoken] = language.split('-')
  if (profile.name === 'speaches' && spoken) address.searchParams.set('language', spoken)
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
