import type { Database } from '../../database/database.ts'
import { openSecrets } from '../../domains/trunks/edit-trunks.ts'
import { environmentTrunk } from '../../domains/trunks/trunk-settings.ts'
import { listTrunkRows, trunksChannel, type TrunkRow } from '../../domains/trunks/trunk-store.ts'
import type { SecretBox } from '../../domains/organizations/secret-box.ts'
import type { Logger } from '../../runtime/logger.ts'
import { repeat, type Repeating } from '../../runtime/repeating.ts'
import type { Service } from '../../runtime/service.ts'
import type { Telemetry } from '../../runtime/telemetry.ts'
import { systemTime } from '../../runtime/time.ts'
import type { Carrier } from '../../telephony/carrier.ts'
import { withCircuit, type Circuit } from '../../telephony/circuit-carrier.ts'
import { unreachableReason } from '../../telephony/sip-carrier-failures.ts'
import {
  createGatewayCarrier,
  mediaPlaceOf,
  type TrunkLineSettings,
} from '../../telephony/trunk-line.ts'
import { createFailoverCarrier, type Gateway } from '../../telephony/trunks/failover-carrier.ts'
import type { NationalDigits } from '../../telephony/trunks/invite-shape.ts'
import { gatewayTrunk, type TrunkDefinition } from '../../telephony/trunks/gateway.ts'
import { registrationOf } from '../../telephony/trunks/gateway-registration.ts'
import type { Registration, RegistrationState } from '../../telephony/trunks/registration.ts'
import { bindAddressFor, trunkTarget, type Trunk } from '../../telephony/trunk-uri.ts'
import { createAgentPool } from './agent-pool.ts'
import {
  receiveCallsBack,
  type ReceivingTrunk,
  type Sender,
  type TakeCallBack,
} from './receive-calls-back.ts'
import { trunkDefinitionOf } from './trunk-definition.ts'

/** A circuit of one gateway, of whatever watches over it. */
interface FleetOptions<GatewayCircuit extends Circuit> {
  readonly database: Database
  readonly box: SecretBox
  /** The trunk of OUTDIAL_SIP_TRUNK, with its password. */
  readonly environment: Trunk | undefined
  readonly settings: Omit<TrunkLineSettings, 'callerId'>
  createCircuit(
    gateway: { readonly trunk: string; readonly uri: string },
    ping: (onFault: (reason: string) => void) => Promise<boolean>,
  ): GatewayCircuit
  readonly national: NationalDigits
  /** Takes the calls of people to us; undefined: they are refused. */
  readonly onCallBack?: TakeCallBack | undefined
  readonly logger: Logger
  readonly telemetry: Telemetry
}

/** A trunk that this node can dial by. */
interface FleetTrunk<GatewayCircuit extends Circuit = Circuit> extends ReceivingTrunk {
  readonly revision: number
  readonly gateways: readonly (Gateway & { readonly circuit: GatewayCircuit })[]
  readonly registrations: readonly {
    readonly gateway: string
    readonly registration: Registration
  }[]
}

export interface TrunkFleet<GatewayCircuit extends Circuit = Circuit> extends Service {
  /** Dials by the trunk that was chosen for the call. */
  readonly carrier: Carrier
  find(name: string): FleetTrunk<GatewayCircuit> | undefined
  /** The names of the trunks that calls may go by; with `like`, only those whose media leaves from the same address. */
  served(like?: string): readonly string[]
  circuits(): readonly GatewayCircuit[]
  /** Of the trunks that register. */
  registrations(): readonly FleetRegistration[]
  /** Reads the trunks again. */
  refresh(): Promise<void>
}

/** How this node is registered at one gateway. */
interface FleetRegistration extends RegistrationState {
  readonly trunk: string
  readonly gateway: string
}

/** A change whose notification was lost acts after this. */
const refreshMs = 5_000

/** The trunks of the installation as this node dials by them: loaded at start, and again at each change. */
export const createTrunkFleet = <GatewayCircuit extends Circuit>(
  options: FleetOptions<GatewayCircuit>,
): TrunkFleet<GatewayCircuit> => {
  const { database, logger } = options
  let trunks: ReadonlyMap<string, FleetTrunk<GatewayCircuit>> = new Map()
  const pool = createAgentPool({
    ...options,
    onInvite: receiveCallsBack(() => [...trunks.values()], options.onCallBack),
  })
  let refreshing: Repeating | undefined
  let listening: { stop(): Promise<void> } | undefined
  const unusable = new Map<string, string>()

  const load = async (row: TrunkRow): Promise<FleetTrunk<GatewayCircuit> | undefined> => {
    const known = trunks.get(row.name)
    if (known?.revision === row.revision) return known
    // Before the new one registers: the same binding would be removed.
    if (known !== undefined) await release(known)
    try {
      const built = await build(options, pool, row)
      unusable.delete(row.name)
      return built
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (unusable.get(row.name) !== reason)
        logger.error({ trunk: row.name, reason }, 'a trunk cannot be used by this node')
      unusable.set(row.name, reason)
      return undefined
    }
  }
  const refresh = async (): Promise<void> => {
    const loaded = new Map<string, FleetTrunk<GatewayCircuit>>()
    for (const row of await listTrunkRows(database)) {
      const trunk = await load(row)
      if (trunk !== undefined) loaded.set(row.name, trunk)
    }
    const gone = [...trunks.values()].filter(({ name }) => !loaded.has(name))
    trunks = loaded
    await Promise.all(gone.map(release))
    await Promise.all(
      [...trunks.values()].flatMap((trunk) =>
        trunk.registrations.map(({ registration }) => registration.check()),
      ),
    )
  }
  const served = (like?: string): readonly string[] => {
    const address = like === undefined ? undefined : trunks.get(like)?.mediaBindAddress
    return [...trunks.values()]
      .filter(isServed)
      .filter(({ mediaBindAddress }) => address === undefined || mediaBindAddress === address)
      .map(({ name }) => name)
  }
  return {
    carrier: createFailoverCarrier({
      gatewaysOf: (name) => trunks.get(name)?.gateways ?? [],
      now: () => systemTime.now(),
      monotonicMs: () => systemTime.monotonicMs(),
    }),
    find: (name) => trunks.get(name),
    served,
    circuits: () =>
      [...trunks.values()].flatMap(({ gateways }) => gateways.map((each) => each.circuit)),
    registrations: () =>
      [...trunks.values()].flatMap(({ name, registrations }) =>
        registrations.map(({ gateway, registration }) => ({
          trunk: name,
          gateway,
          ...registration.state(),
        })),
      ),
    refresh,
    start: async () => {
      await refresh()
      refreshing ??= repeat({
        name: 'trunks',
        intervalMs: refreshMs,
        work: refresh,
        time: systemTime,
        logger,
      })
      listening ??= await database.listen(trunksChannel, () => refreshing?.wake())
    },
    stop: async () => {
      await listening?.stop()
      await refreshing?.stop()
      await Promise.all([...trunks.values()].map(release))
      await pool.stop()
    },
  }
}

/** Deregisters; its live calls go on. */
const release = async ({ registrations }: FleetTrunk): Promise<void> => {
  await Promise.all(registrations.map(({ registration }) => registration.stop()))
}

/** Registered at one gateway at least, where it must be. */
const isServed = ({ registrations }: FleetTrunk): boolean =>
  registrations.length === 0 ||
  registrations.some(({ registration }) => registration.state().state === 'registered')

const build = async <GatewayCircuit extends Circuit>(
  options: FleetOptions<GatewayCircuit>,
  pool: ReturnType<typeof createAgentPool>,
  row: TrunkRow,
): Promise<FleetTrunk<GatewayCircuit>> => {
  const definition = definitionOfRow(options, row)
  const parsed = definition.uris.map((uri) => ({ uri, trunk: gatewayTrunk(definition, uri) }))
  const bindAddress = sharedBindAddress(parsed.map(({ trunk }) => trunk))
  const agent = await pool.agentFor(
    bindAddress,
    parsed.map(({ trunk }) => trunk),
    definition.tls,
  )
  const proxy = definition.outboundProxy === undefined ? [] : [definition.outboundProxy]
  const registrations: { gateway: string; registration: Registration }[] = []
  const senders: Sender[] = []
  const gateways = parsed.map(({ uri, trunk }) => {
    const registration = registrationOf(agent, definition, trunk)
    registration?.start()
    if (registration !== undefined) registrations.push({ gateway: uri, registration })
    const carrier = createGatewayCarrier(
      agent,
      trunk,
      options.settings,
      {
        shape: definition.shape,
        numberFormat: definition.numberFormat,
        national: options.national,
        codecs: definition.codecs,
        routes: () => registration?.routes() ?? proxy,
        ...(definition.realm !== undefined && { realm: definition.realm }),
      },
      options.logger,
    )
    senders.push({ trunk, receive: (incoming) => carrier.receive(incoming) })
    const circuit = options.createCircuit({ trunk: row.name, uri }, async (onFault) => {
      const health = await carrier.ping()
      if (!health.isAlive && health.reason !== undefined) onFault(unreachableReason(health.reason))
      return health.isAlive
    })
    return {
      uri,
      circuit,
      carrier: withCircuit(carrier, circuit),
      downReason: () => circuit.downReason() ?? unregistered(registration),
    }
  })
  return {
    name: row.name,
    revision: row.revision,
    agent,
    senders,
    ...mediaPlaceOf(options.settings, bindAddress),
    gateways,
    registrations,
  }
}

const unregistered = (registration: Registration | undefined): string | undefined => {
  if (registration === undefined) return undefined
  const { state, reason } = registration.state()
  return state === 'registered' ? undefined : (reason ?? 'The registration is under way.')
}

const definitionOfRow = <GatewayCircuit extends Circuit>(
  { box, environment }: FleetOptions<GatewayCircuit>,
  row: TrunkRow,
): TrunkDefinition => {
  if (row.name === environmentTrunk) {
    if (environment === undefined || trunkTarget(environment) !== row.settings.uris[0])
      throw new Error('this node has another OUTDIAL_SIP_TRUNK, or none')
    return { ...trunkDefinitionOf(row, {}), credentials: environment.credentials }
  }
  const secrets = openSecrets(box, row)
  if (secrets === undefined)
    throw new Error(
      'its password was encrypted with another key: set OUTDIAL_SECRET_KEY, or enter the password again',
    )
  return trunkDefinitionOf(row, secrets)
}

/** Loopback only if every gateway is on loopback; never both IP versions, because a call has one socket. */
const sharedBindAddress = (trunks: readonly Trunk[]): string => {
  const addresses = [...new Set(trunks.map(bindAddressFor))]
  const [only] = addresses
  if (only !== undefined && addresses.length === 1) return only
  const hasIp6 = addresses.some((address) => address.includes(':'))
  if (hasIp6 && addresses.some((address) => !address.includes(':')))
    throw new Error('its URIs are of both IP versions: make a trunk of each')
  return hasIp6 ? '::' : '0.0.0.0'
}
