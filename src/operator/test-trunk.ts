import type { Config } from '../config/read-config.ts'
import type { Queryable } from '../database/database.ts'
import { OperatorError } from '../domains/organizations/operator-error.ts'
import type { SecretBox } from '../domains/organizations/secret-box.ts'
import { openSecrets } from '../domains/trunks/edit-trunks.ts'
import { environmentTrunk } from '../domains/trunks/trunk-settings.ts'
import { listTrunkRows } from '../domains/trunks/trunk-store.ts'
import { trunkDefinitionOf } from '../live-call/trunks/trunk-definition.ts'
import { nationalDigits } from '../numbering/national-number.ts'
import { silentLogger } from '../runtime/logger.ts'
import { gatewayTrunk, type TrunkDefinition } from '../telephony/trunks/gateway.ts'
import { readEnvironmentTrunk } from '../telephony/telephony.ts'
import { registrationOf } from '../telephony/trunks/gateway-registration.ts'
import { createTrunkLine, type TrunkLine } from '../telephony/trunk-line.ts'
import { tryCall } from './doctor/try-call.ts'

/** What one gateway of a trunk said. */
export interface GatewayTest {
  readonly uri: string
  readonly method: 'OPTIONS' | 'REGISTER' | 'INVITE'
  readonly ok: boolean
  readonly sip_status: number | null
  readonly round_trip_ms: number | null
  /** One sentence. */
  readonly message: string
}

export interface TrunkTest {
  readonly trunk: string
  /** Whether every gateway responded as it should. */
  readonly ok: boolean
  readonly gateways: readonly GatewayTest[]
}

/** Whoever asks reads nothing but whether it works: the sockets are of this test alone. */
const anyPort = 0

/**
 * Asks each gateway of a trunk from this machine: OPTIONS, or REGISTER where the trunk registers. With `callNumber`
 * (E.164) a call to it, which ends as soon as the phone rings. Throws `OperatorError` for an unknown trunk.
 */
export const testTrunk = async (
  db: Queryable,
  box: SecretBox,
  sip: Config['sip'],
  name: string,
  callNumber?: string,
): Promise<TrunkTest> => {
  const definition = await readDefinition(db, box, sip, name)
  const gateways: GatewayTest[] = []
  for (const uri of definition.uris) {
    const line = createTrunkLine(
      gatewayTrunk(definition, uri),
      { ...sip, port: anyPort, tlsPort: undefined },
      silentLogger,
      undefined,
      {
        shape: definition.shape,
        numberFormat: definition.numberFormat,
        national: nationalDigits,
        codecs: definition.codecs,
        routes: () => (definition.outboundProxy === undefined ? [] : [definition.outboundProxy]),
        tls: definition.tls,
        ...(definition.realm !== undefined && { realm: definition.realm }),
      },
    )
    try {
      await line.start()
      gateways.push(await testGateway(uri, definition, line, callNumber))
    } finally {
      await line.stop()
    }
  }
  return { trunk: name, ok: gateways.every(({ ok }) => ok), gateways }
}

const readDefinition = async (
  db: Queryable,
  box: SecretBox,
  sip: Config['sip'],
  name: string,
): Promise<TrunkDefinition> => {
  const row = (await listTrunkRows(db)).find((each) => each.name === name)
  if (row === undefined)
    throw new OperatorError(`There is no trunk ${name.slice(0, 63)}: trunk list shows them.`)
  if (name === environmentTrunk)
    return { ...trunkDefinitionOf(row, {}), credentials: readEnvironmentTrunk(sip)?.credentials }
  const secrets = openSecrets(box, row)
  if (secrets === undefined)
    throw new OperatorError(
      `The password of ${name} was encrypted with another key: set OUTDIAL_SECRET_KEY, or enter it again with trunk set ${name} --password-file F.`,
    )
  return trunkDefinitionOf(row, secrets)
}

const testGateway = async (
  uri: string,
  definition: TrunkDefinition,
  line: TrunkLine,
  callNumber: string | undefined,
): Promise<GatewayTest> => {
  if (definition.registerSeconds === undefined)
    return callNumber === undefined ? ask(uri, line) : call(uri, line, callNumber)
  const changed = Promise.withResolvers<void>()
  const registration = registrationOf(line.agent, definition, gatewayTrunk(definition, uri), () =>
    changed.resolve(),
  )
  if (registration === undefined) return ask(uri, line)
  registration.start()
  await changed.promise
  const { state, reason } = registration.state()
  try {
    if (callNumber !== undefined && state === 'registered') return await call(uri, line, callNumber)
  } finally {
    await registration.stop()
  }
  return {
    uri,
    method: 'REGISTER',
    ok: state === 'registered',
    sip_status: state === 'registered' ? 200 : null,
    round_trip_ms: null,
    message: reason ?? 'It registered us, and removed the registration again.',
  }
}

const ask = async (uri: string, line: TrunkLine): Promise<GatewayTest> => {
  const health = await line.carrier.ping()
  if (!health.isAlive)
    return {
      uri,
      method: 'OPTIONS',
      ok: false,
      sip_status: null,
      round_trip_ms: null,
      message: health.isRefused
        ? 'It refuses packets: nothing listens at that address and port; check the URI, and that the trunk runs.'
        : 'It does not answer OPTIONS: check the URI, the firewall, and that the carrier knows the address of this machine.',
    }
  const isOutOfService = health.sipStatus === 408 || health.sipStatus >= 500
  return {
    uri,
    method: 'OPTIONS',
    ok: !isOutOfService || health.sipStatus === 501,
    sip_status: health.sipStatus,
    round_trip_ms: Math.round(health.roundTripMs),
    message: isOutOfService
      ? `It answers OPTIONS with ${health.sipStatus}: it is out of service at this moment.`
      : `It answers OPTIONS with ${health.sipStatus}; only a call shows whether the password is right: trunk test --call NUMBER.`,
  }
}

const call = async (uri: string, line: TrunkLine, number: string): Promise<GatewayTest> => {
  const finding = await tryCall(line, number)
  return {
    uri,
    method: 'INVITE',
    ok: finding.status === 'ok',
    sip_status: null,
    round_trip_ms: null,
    message: finding.message,
  }
}
