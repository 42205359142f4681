import { BlockList, isIPv6 } from 'node:net'
import type { Logger } from '../runtime/logger.ts'
import { silentTelemetry, type Telemetry } from '../runtime/telemetry.ts'
import { createAddressFinder } from '../sip/transport/find-addresses.ts'
import { createUserAgent } from '../sip/user-agent/user-agent.ts'
import type { IncomingInvite, UserAgent } from '../sip/user-agent/user-agent-types.ts'
import { createCallBack, type CallBack } from './incoming/call-back.ts'
import type { Line } from './line.ts'
import { createSipCarrier, type SipCarrier, type SipCarrierOptions } from './sip-carrier.ts'
import { followTlsFiles } from './renewed-tls-files.ts'
import type { TlsFileSettings } from './tls-files.ts'
import type { TrunkTls } from './trunks/gateway.ts'
import { TrunkSources } from './trunk-sources.ts'
import { bindAddressFor, isLocalTrunk, trunkTarget, type Trunk } from './trunk-uri.ts'

export interface TrunkLineSettings extends TlsFileSettings {
  /** Accepted SIP sources beside the trunk's own addresses. */
  readonly allow: BlockList | undefined
  /** The caller ID that callees see, E.164. */
  readonly callerId: string | undefined
  /** Put into Contact and SDP instead of the address that reaches the trunk. */
  readonly publicAddress: string | undefined
  /** Where RTP sockets listen; by default where SIP does. */
  readonly rtpAddress?: string | undefined
  /** Put into SDP; by default `publicAddress`, but for RTP on an address of its own. */
  readonly rtpPublicAddress?: string | undefined
}

/** The RTP side of a trunk: where its sockets listen, and what its SDP says. */
export const mediaPlaceOf = (
  {
    publicAddress,
    rtpAddress,
    rtpPublicAddress,
  }: Pick<TrunkLineSettings, 'publicAddress' | 'rtpAddress' | 'rtpPublicAddress'>,
  bindAddress: string,
) => {
  const written = rtpPublicAddress ?? publicAddress
  return {
    mediaBindAddress: rtpAddress ?? bindAddress,
    ...(written !== undefined && { publicAddress: written }),
  }
}

export interface TrunkLine extends Line {
  readonly carrier: SipCarrier
  readonly agent: TrunkAgent
  /** This machine's source address towards the trunk; undefined if there is no route. */
  localHost(): Promise<string | undefined>
  /** Our address and port as the trunk sees them through a NAT, once it answered; undefined where it sees our own. */
  seenAs(): Promise<string | undefined>
}

interface TrunkAgentSettings extends Omit<TrunkLineSettings, 'callerId'> {
  readonly bindAddress: string
  readonly listensOnTcp: boolean
  /** Of one trunk, in place of the installation's own. */
  readonly trunkTls?: TrunkTls | undefined
}

/** The user agent of trunks on one local address, and the sources that it accepts: these trunks. */
export interface TrunkAgent {
  readonly userAgent: UserAgent
  readonly sources: TrunkSources
  readonly bindAddress: string
}

export const createTrunkAgent = (
  settings: TrunkAgentSettings,
  logger: Logger,
  telemetry: Telemetry = silentTelemetry,
): TrunkAgent => {
  const { bindAddress, port, allow = new BlockList(), publicAddress, listensOnTcp } = settings
  const sources = new TrunkSources({
    findAddresses: createAddressFinder(isIPv6(bindAddress) ? 6 : 4),
    allow,
    logger,
  })
  const userAgent = createUserAgent({
    logger,
    telemetry,
    sources,
    bindAddress,
    port,
    listensOnTcp,
    tls: settings.trunkTls === undefined ? tlsOfFiles(settings, logger) : tlsOf(settings.trunkTls),
    ...(publicAddress !== undefined && { advertisedAddress: publicAddress }),
  })
  return { userAgent, sources, bindAddress }
}

const tlsOfFiles = (settings: TlsFileSettings, logger: Logger) => {
  const { client, server, port } = followTlsFiles(settings, logger)
  return { client, ...(server !== undefined && { server }), port }
}

const tlsOf = ({ ca, cert, key, serverName, minVersion, verify }: TrunkTls) => ({
  client: {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(serverName !== undefined && { serverName }),
    minVersion,
    isInsecure: !verify,
  },
})

type CarrierShape = Pick<
  SipCarrierOptions,
  'shape' | 'numberFormat' | 'national' | 'routes' | 'codecs' | 'realm'
>

/** A gateway in both directions. */
interface GatewayCarrier extends SipCarrier {
  /** A call that came from there. */
  receive(incoming: IncomingInvite): CallBack
}

/** The carrier of one gateway, over a user agent that accepts its trunk. */
export const createGatewayCarrier = (
  { userAgent, sources, bindAddress }: TrunkAgent,
  trunk: Trunk,
  settings: Parameters<typeof mediaPlaceOf>[0],
  shape: CarrierShape,
  logger: Logger,
): GatewayCarrier => {
  const { mediaBindAddress: _, ...written } = mediaPlaceOf(settings, bindAddress)
  const options: SipCarrierOptions = {
    userAgent,
    trunk,
    trunkAddresses: () => sources.addressesOf(trunk),
    belongsToTrunk: (destination) => sources.belongsTo(trunk, destination),
    logger,
    // A trunk on loopback is a test peer; only there the id serves to count INVITEs.
    sendsCallId: isLocalTrunk(trunk),
    ...written,
    ...shape,
  }
  return {
    ...createSipCarrier(options),
    receive: (incoming) => createCallBack(incoming, options),
  }
}

/** A trunk, and the user agent that accepts only it. */
export const createTrunkLine = (
  trunk: Trunk,
  settings: TrunkLineSettings,
  logger: Logger,
  telemetry: Telemetry = silentTelemetry,
  shape: CarrierShape & { readonly tls?: TrunkTls | undefined } = {},
): TrunkLine => {
  const bindAddress = bindAddressFor(trunk)
  const { tls: trunkTls, ...carrierShape } = shape
  const listensOnTcp = trunk.transport === 'tcp'
  const agent = createTrunkAgent(
    { ...settings, bindAddress, listensOnTcp, trunkTls },
    logger,
    telemetry,
  )
  const { userAgent, sources } = agent
  const carrier = createGatewayCarrier(agent, trunk, settings, carrierShape, logger)
  return {
    name: `the trunk at ${trunk.host}`,
    callerId: settings.callerId,
    ...mediaPlaceOf(settings, bindAddress),
    carrier,
    agent,
    ping: async () => (await carrier.ping()).isAlive,
    seenAs: () => userAgent.viewFrom(trunkTarget(trunk)).catch(() => undefined),
    localHost: () => userAgent.localHostFor(trunkTarget(trunk)).catch(() => undefined),
    start: async () => {
      await sources.setTrunks([trunk])
      await userAgent.start()
    },
    stop: async () => {
      await userAgent.stop()
      await sources.stop()
    },
  }
}
