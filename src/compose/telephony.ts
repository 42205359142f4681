import { BlockList, isIPv6 } from 'node:net'
import type { Config } from '../config.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Service } from '../runtime/service.ts'
import { createAddressFinder } from '../sip/transport/find-addresses.ts'
import { onlySource } from '../sip/gate/sources.ts'
import { createUserAgent } from '../sip/user-agent/user-agent.ts'
import type { Carrier } from '../telephony/carrier.ts'
import { createSandboxCarrier } from '../telephony/sandbox/sandbox-carrier.ts'
import { createSipCarrier, type SipCarrier } from '../telephony/sip-carrier.ts'
import { createTrunkSources } from '../telephony/trunk-sources.ts'
import { bindAddressFor, isLocalTrunk, parseTrunkUri, type Trunk } from '../telephony/trunk-uri.ts'
import { StartError } from './start-error.ts'

/** The way to the phones of one route. */
export interface Line {
  /** OPTIONS: whether any final response comes. */
  ping(): Promise<boolean>
  readonly carrier: Carrier
  /** For people: where calls go. */
  readonly name: string
  /** Where RTP sockets of its calls listen. */
  readonly mediaBindAddress: string
  /** Address put into SDP instead of it. */
  readonly publicAddress?: string
}

/** Both ways beside each other; each has a user agent of its own, so that no packet of one can reach the other. */
export interface Telephony extends Service {
  readonly sandbox: Line
  /** Undefined: no trunk is configured. */
  readonly trunk: Line | undefined
}

/**
 * The sandbox carrier on loopback for sandbox organizations and, where one is configured, the trunk for live ones. Both
 * are reached by the very same code. Throws for a trunk that cannot be read.
 */
export const createTelephony = (config: Config, logger: Logger): Telephony => {
  const uri = config.OUTDIAL_SIP_TRUNK
  const sandbox = sandboxLine(uri === undefined ? config.OUTDIAL_SIP_PORT : anyPort, logger)
  const trunk = uri === undefined ? undefined : trunkLine(config, uri, logger)
  return {
    sandbox,
    trunk,
    start: async () => {
      await Promise.all([sandbox.start(), trunk?.start()])
    },
    stop: async () => {
      await Promise.all([sandbox.stop(), trunk?.stop()])
    },
  }
}

const loopback = '127.0.0.1'
/** The port of OUTDIAL_SIP_PORT is the trunk's where there is one. */
const anyPort = 0

/** Where SIP listens on OUTDIAL_SIP_PORT. Throws for a trunk that cannot be read. */
export const sipBindAddress = ({ OUTDIAL_SIP_TRUNK: trunk }: Config): string =>
  trunk === undefined ? loopback : bindAddressFor(readTrunk(trunk))

const sandboxLine = (port: number, logger: Logger): Line & Service => {
  const sandbox = createSandboxCarrier({ logger, callerPort: () => userAgent.localPort })
  const userAgent = createUserAgent({
    logger,
    sources: onlySource(loopback, () => parseTrunkUri(sandbox.target).port ?? 0),
    bindAddress: loopback,
    port,
  })
  // The carrier is known once the sandbox has its port; nothing is dialled before the parts have started.
  let carrier: SipCarrier | undefined
  const reach = (): SipCarrier =>
    (carrier ??= createSipCarrier({
      userAgent,
      trunk: parseTrunkUri(sandbox.target),
      sendsCallId: true,
      logger,
    }))
  return {
    name: 'the sandbox carrier',
    mediaBindAddress: loopback,
    carrier: { dial: (request, signal) => reach().dial(request, signal) },
    ping: async () => (await reach().ping()).isAlive,
    start: async () => {
      // The sandbox listens to this one user agent only, whose port must be known by then.
      await userAgent.start()
      await sandbox.start()
    },
    stop: async () => {
      await userAgent.stop()
      await sandbox.stop()
    },
  }
}

const readTrunk = (uri: string): Trunk => {
  try {
    return parseTrunkUri(uri)
  } catch (error) {
    throw new StartError(`OUTDIAL_SIP_TRUNK cannot be used: ${(error as Error).message}.`, {
      cause: error,
    })
  }
}

const trunkLine = (config: Config, uri: string, logger: Logger): Line & Service => {
  const trunk = readTrunk(uri)
  const publicAddress = config.OUTDIAL_PUBLIC_IP
  const bindAddress = bindAddressFor(trunk)
  const sources = createTrunkSources({
    findAddresses: createAddressFinder(isIPv6(bindAddress) ? 6 : 4),
    allow: config.OUTDIAL_SIP_ALLOW ?? new BlockList(),
    logger,
  })
  const userAgent = createUserAgent({
    logger,
    sources,
    bindAddress,
    port: config.OUTDIAL_SIP_PORT,
    listensOnTcp: trunk.transport === 'tcp',
    ...(publicAddress !== undefined && { advertisedAddress: publicAddress }),
  })
  const carrier = createSipCarrier({
    userAgent,
    trunk,
    trunkAddresses: () => sources.addressesOf(trunk),
    belongsToTrunk: (destination) => sources.belongsTo(trunk, destination),
    logger,
    // A trunk on loopback is a test peer; only there the id helps whoever counts INVITEs.
    sendsCallId: isLocalTrunk(trunk),
    ...(publicAddress !== undefined && { publicAddress }),
  })
  return {
    name: `the trunk at ${trunk.host}`,
    mediaBindAddress: bindAddress,
    ...(publicAddress !== undefined && { publicAddress }),
    carrier,
    ping: async () => (await carrier.ping()).isAlive,
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
