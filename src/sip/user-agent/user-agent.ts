import { isIPv6 } from 'node:net'
import type { Telemetry } from '../../runtime/telemetry.ts'
import { systemTime, type Time } from '../../runtime/time.ts'
import { silentLogger, type Logger } from '../../runtime/logger.ts'
import type { AgentContext } from '../dialog/agent-context.ts'
import { createCaller } from './caller.ts'
import { createDialogTable } from '../dialog/dialog-table.ts'
import { createDropCounter, type DropCounter } from '../gate/drop-counter.ts'
import { createKnownCalls } from '../gate/known-calls.ts'
import { createRequestGate } from '../gate/request-gate.ts'
import { sendOutside } from './outside-request.ts'
import { contactHeader } from '../transaction/hop.ts'
import { RequestRouter } from './request-router.ts'
import { createResolver, type SipResolver } from '../transport/resolver.ts'
import { defaultSessionTimer, type SessionTimerSettings } from '../dialog/session-timer.ts'
import { Signalling } from '../transaction/signalling.ts'
import { createSourceLimiter } from '../gate/source-limiter.ts'
import type { SipSources } from '../gate/sources.ts'
import {
  createTcpTransport,
  createTlsTransport,
  type TlsTransportOptions,
} from '../transport/stream-transport.ts'
import { defaultTiming, type TransactionTiming } from '../transaction/transaction-timing.ts'
import type { Transport } from '../transport/transport.ts'
import type { TransportProtocol } from '../message/destination.ts'
import { createUdpTransport, type DropDatagram } from '../transport/udp-transport.ts'
import type { UserAgent } from './user-agent-types.ts'

export interface UserAgentOptions {
  readonly logger?: Logger
  /** Where to listen; its IP version is the one we use. `0.0.0.0` by default. */
  readonly bindAddress?: string
  /** UDP and TCP port; any free one by default. */
  readonly port?: number
  /** Address put into Via and Contact, behind a 1:1 NAT; our own by default. */
  readonly advertisedAddress?: string
  /** Listens on TCP beside UDP. Outbound connections by TCP and TLS are always possible. */
  readonly listensOnTcp?: boolean
  readonly tls?: Pick<TlsTransportOptions, 'client' | 'server'> & { readonly port?: number }
  readonly userAgentName?: string
  /** The accepted sources; no other gets a byte. */
  readonly sources: SipSources
  /**
   * New INVITEs accepted, and responses to requests outside of calls, per second and address; further ones get no
   * response.
   */
  readonly maxUnknownPerSecond?: number
  readonly sessionTimer?: SessionTimerSettings
  readonly timing?: TransactionTiming
  readonly time?: Time
  readonly telemetry?: Telemetry
  readonly resolver?: SipResolver
  /** Another network than this machine's sockets, in tests. */
  readonly transports?: ReadonlyMap<TransportProtocol, Transport>
  /** Loses datagrams on purpose, in tests. */
  readonly dropDatagram?: DropDatagram
}

const stopGraceMs = 2000

/** A SIP user agent, caller and callee, over UDP, TCP and TLS (RFC 3261 and its extensions). */
export const createUserAgent = (options: UserAgentOptions): UserAgent => {
  const time = options.time ?? systemTime
  const logger = options.logger ?? silentLogger
  const drops = createDropCounter(logger, time, options.telemetry)
  const context = createContext(options, { time, logger, drops })
  const { signalling } = context
  const caller = createCaller(context)
  const router = new RequestRouter(context, {
    sources: options.sources,
    newCalls: createSourceLimiter(unknownPerSecond(options), time),
    drops,
  })
  let starting: Promise<void> | undefined
  let stopping: Promise<void> | undefined
  return {
    start: () =>
      (starting ??= signalling.start({
        onRequest: (arrival) => {
          router.onRequest(arrival)
        },
        onAck: (ack, source) => {
          router.onAck(ack, source)
        },
        onContactLost: ({ address }) => {
          for (const dialog of context.dialogs.all()) dialog.renewContact(address)
        },
        askPeer: (destination) => caller.askPeer(destination),
      })),
    stop: (graceMs = stopGraceMs) => {
      stopping ??= stopAll(context, [caller, router], graceMs)
      return stopping
    },
    get localPort() {
      return signalling.localPort
    },
    get tlsPort() {
      return signalling.portOf('tls')
    },
    invite: (invite, signal) => caller.invite(invite, signal),
    ping: (...request) => caller.ping(...request),
    onInvite: (handler) => {
      router.onInvite(handler)
    },
    localHostFor: async (target) => (await signalling.route(target)).localHost,
    contactFor: async (target) => contactHeader(await signalling.route(target))[1],
    request: (request) => sendOutside(context, request),
    viewFrom: async (target) => signalling.viewFrom(await signalling.route(target)),
  }
}

const unknownPerSecond = ({ maxUnknownPerSecond }: UserAgentOptions): number =>
  maxUnknownPerSecond ?? 20

// Repetitions and refused requests are read too, up to this many times the number of responses.
const strayFactor = 5

// Enough to recognize a carrier's unknown address from one BYE and its repetitions.
const probesPerSecond = 20

const createContext = (
  options: UserAgentOptions,
  { time, logger, drops }: { time: Time; logger: Logger; drops: DropCounter },
): AgentContext => {
  const bindAddress = options.bindAddress ?? '0.0.0.0'
  const timing = options.timing ?? defaultTiming
  const resolver = options.resolver ?? createResolver(isIPv6(bindAddress) ? 6 : 4)
  const known = createKnownCalls()
  const dialogs = createDialogTable(known, resolver)
  const { sources } = options
  const strays = createSourceLimiter(strayFactor * unknownPerSecond(options), time)
  const probes = createSourceLimiter(probesPerSecond, time)
  const signalling = new Signalling({
    transports: options.transports ?? createTransports(options, bindAddress),
    resolver,
    timing,
    time,
    logger,
    gate: createRequestGate({ sources, dialogs, known, strays, probes, drops }),
    sources,
    known,
    drops,
    answers: createSourceLimiter(unknownPerSecond(options), time),
    ...(options.advertisedAddress === undefined
      ? {}
      : { advertisedAddress: options.advertisedAddress }),
  })
  return {
    signalling,
    time,
    timing,
    sessionTimer: options.sessionTimer ?? defaultSessionTimer,
    userAgentName: options.userAgentName ?? 'Outdial',
    logger,
    dialogs,
  }
}

const createTransports = (
  options: UserAgentOptions,
  bindAddress: string,
): ReadonlyMap<TransportProtocol, Transport> => {
  const drop = options.dropDatagram
  const udp = createUdpTransport({
    bindAddress,
    port: options.port ?? 0,
    ...(drop === undefined ? {} : { dropDatagram: drop }),
  })
  // TCP uses UDP's port number, so that one Contact serves both.
  const listenPort = options.listensOnTcp === true ? { listenPort: () => udp.localPort } : {}
  const tcp = createTcpTransport({ bindAddress, ...listenPort })
  const { port: tlsPort = 0, ...tlsOptions } = options.tls ?? {}
  const tlsListen = tlsOptions.server === undefined ? {} : { listenPort: () => tlsPort }
  const tls = createTlsTransport({ bindAddress, ...tlsOptions, ...tlsListen })
  return new Map<TransportProtocol, Transport>([
    ['udp', udp],
    ['tcp', tcp],
    ['tls', tls],
  ])
}

/** Ends every call, waits no longer than the grace period, then releases everything. */
const stopAll = async (
  context: AgentContext,
  parts: readonly { stop(): Promise<void> }[],
  graceMs: number,
): Promise<void> => {
  const goodbyes = Promise.allSettled([
    ...parts.map((part) => part.stop()),
    ...context.dialogs.all().map((dialog) => dialog.bye()),
  ])
  const { promise: patience, resolve } = Promise.withResolvers<void>()
  // Wall-clock time even if a test controls the protocol's time.
  const cancelPatience = systemTime.after(graceMs, resolve)
  await Promise.race([goodbyes, patience])
  cancelPatience()
  for (const dialog of context.dialogs.all()) dialog.abandon()
  await context.signalling.stop()
}
