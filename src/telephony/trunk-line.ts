import { BlockList, isIPv6 } from 'node:net'
import type { Logger } from '../runtime/logger.ts'
import { silentTelemetry, type Telemetry } from '../runtime/telemetry.ts'
import { createAddressFinder } from '../sip/transport/find-addresses.ts'
import { createUserAgent } from '../sip/user-agent/user-agent.ts'
import type { Line } from './line.ts'
import { createSipCarrier, type SipCarrier } from './sip-carrier.ts'
import { TrunkSources } from './trunk-sources.ts'
import { bindAddressFor, isLocalTrunk, trunkTarget, type Trunk } from './trunk-uri.ts'

export interface TrunkLineSettings {
  /** Local SIP port; 0 is any free one. */
  readonly port: number
  /** Accepted SIP sources beside the trunk's own addresses. */
  readonly allow: BlockList | undefined
  /** The caller ID that callees see, E.164. */
  readonly callerId: string | undefined
  /** Put into Contact and SDP instead of the address that reaches the trunk. */
  readonly publicAddress: string | undefined
}

export interface TrunkLine extends Line {
  readonly carrier: SipCarrier
  /** This machine's source address towards the trunk; undefined if there is no route. */
  localHost(): Promise<string | undefined>
}

/** A trunk, and the user agent that accepts only it. */
export const createTrunkLine = (
  trunk: Trunk,
  { port, allow = new BlockList(), callerId, publicAddress }: TrunkLineSettings,
  logger: Logger,
  telemetry: Telemetry = silentTelemetry,
): TrunkLine => {
  const bindAddress = bindAddressFor(trunk)
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
    listensOnTcp: trunk.transport === 'tcp',
    ...(publicAddress !== undefined && { advertisedAddress: publicAddress }),
  })
  const carrier = createSipCarrier({
    userAgent,
    trunk,
    trunkAddresses: () => sources.addressesOf(trunk),
    belongsToTrunk: (destination) => sources.belongsTo(trunk, destination),
    logger,
    // A trunk on loopback is a test peer; only there the id serves to count INVITEs.
    sendsCallId: isLocalTrunk(trunk),
    ...(publicAddress !== undefined && { publicAddress }),
  })
  return {
    name: `the trunk at ${trunk.host}`,
    callerId,
    mediaBindAddress: bindAddress,
    ...(publicAddress !== undefined && { publicAddress }),
    carrier,
    ping: async () => (await carrier.ping()).isAlive,
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
