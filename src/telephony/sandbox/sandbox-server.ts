import { BoundedMap } from '../../runtime/bounded-map.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Service } from '../../runtime/service.ts'
import { openRtpSession } from '../../rtp/rtp-session.ts'
import { PhasedTicker } from '../../rtp/ticker.ts'
import { createDigestServer } from '../../sip/digest/digest-server.ts'
import { onlySource, type SipSources } from '../../sip/gate/sources.ts'
import { createUserAgent } from '../../sip/user-agent/user-agent.ts'
import { createCallJournal, type JournalEntry, type SandboxReport } from './call-journal.ts'
import { servePersonaCall } from './persona-call.ts'
import { createPersonaVoice } from './persona-voice.ts'
import {
  personaFor,
  personaVocabulary,
  sandboxCredentials,
  sandboxRealm,
  vocabularyOf,
  type Persona,
} from './personas.ts'

interface SandboxServerOptions {
  /** SIP over UDP on loopback; 0 for any free port. */
  readonly port: number
  /** The SIP port on loopback that may call; any by default. */
  readonly callerPort?: number
  readonly rtpPortRange?: { readonly min: number; readonly max: number }
  /** Answers at every number. */
  readonly onlyPersona?: Persona
  /** The persona at each number; by default the operator manual's. */
  readonly personaFor?: (number: string) => Persona
  readonly onJournalEntry?: (entry: JournalEntry) => void
  readonly logger: Logger
}

interface SandboxServer extends Service {
  /** Bound SIP port, after start. */
  readonly port: number
  report(): SandboxReport
}

const loopback = '127.0.0.1'
const loopbackSources: SipSources = {
  admits: ({ address }) => address === loopback,
  areOneTrunk: () => false,
}
const defaultSandboxRtpPorts = { min: 20_002, max: 29_999 } as const
/** More than any pace of the product in the sandbox, so that the carrier never limits a benchmark. */
const maxInvitesPerSecond = 2000
/** Calls remembered for their 503. */
const maxCongested = 100_000

/** The sandbox carrier itself, in this thread: SIP, RTP and speech of all its personas. */
export const createSandboxServer = (options: SandboxServerOptions): SandboxServer => {
  const { logger, onlyPersona, callerPort } = options
  const journal = createCallJournal(options.onJournalEntry)
  const ticker = new PhasedTicker()
  const digest = createDigestServer(sandboxCredentials, { realm: sandboxRealm })
  const congested = new BoundedMap<string, true>({ maxSize: maxCongested })
  const live = new Set<Promise<void>>()
  const stopped = new AbortController()
  const userAgent = createUserAgent({
    bindAddress: loopback,
    port: options.port,
    userAgentName: 'Outdial sandbox carrier',
    sources: callerPort === undefined ? loopbackSources : onlySource(loopback, () => callerPort),
    maxUnknownPerSecond: maxInvitesPerSecond,
    logger,
  })
  const openSession = () =>
    openRtpSession({
      bindAddress: loopback,
      portRange: options.rtpPortRange ?? defaultSandboxRtpPorts,
    })

  const start = async (): Promise<void> => {
    const speak = createPersonaVoice(onlyPersona ? vocabularyOf([onlyPersona]) : personaVocabulary)
    const { signal } = stopped
    const deps = {
      personaFor: onlyPersona ? () => onlyPersona : (options.personaFor ?? personaFor),
      openSession,
      ticker,
      speak,
      journal,
      digest,
      congested,
      signal,
      logger,
    }
    userAgent.onInvite((incoming) => {
      const call = servePersonaCall(incoming, deps).finally(() => live.delete(call))
      live.add(call)
    })
    await userAgent.start()
  }

  const stop = async (): Promise<void> => {
    stopped.abort()
    await userAgent.stop()
    await Promise.all(live)
    ticker.stop()
  }

  let starting: Promise<void> | undefined
  let stopping: Promise<void> | undefined
  return {
    start: () => (starting ??= start()),
    stop: () => (stopping ??= stop()),
    get port() {
      return userAgent.localPort
    },
    report: () => journal.report(),
  }
}
