import { isIP, isIPv6 } from 'node:net'
import type { Config } from '../../config/read-config.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { isPublicAddress } from '../../runtime/private-address.ts'
import { parseSipUri } from '../../sip/message/uri.ts'
import { createAddressFinder } from '../../sip/transport/find-addresses.ts'
import type { TrunkHealth } from '../../telephony/sip-carrier.ts'
import { createTrunkLine, type TrunkLine } from '../../telephony/trunk-line.ts'
import {
  bindAddressFor,
  parseTrunkUri,
  placeOfTrunk,
  trunkTarget,
  type Trunk,
} from '../../telephony/trunk-uri.ts'
import { failed, messageOf, ok, warning, type Finding } from './finding.ts'
import { tryCall } from './try-call.ts'

/**
 * Checks the trunk from this machine: its name in DNS, its response to OPTIONS, and NAT. With `callNumber` (E.164) it also
 * places a call, which ends as soon as the phone rings.
 */
export const checkTrunk = async (
  sip: Config['sip'],
  callNumber: string | undefined,
): Promise<Finding[]> => {
  if (sip.trunk === undefined) {
    const none = ok(
      'trunk',
      'No trunk is configured: calls of sandbox organizations go to the sandbox carrier; OUTDIAL_SIP_TRUNK lets live ones ring phones.',
    )
    return callNumber === undefined
      ? [none]
      : [none, failed('call', 'There is no trunk to try a call on: set OUTDIAL_SIP_TRUNK.')]
  }
  let trunk: Trunk
  try {
    trunk = parseTrunkUri(sip.trunk)
  } catch (error) {
    return [failed('trunk', `OUTDIAL_SIP_TRUNK: ${messageOf(error)}.`)]
  }
  const family = isIPv6(bindAddressFor(trunk)) ? 6 : 4
  const addresses = await resolve(trunk, family)
  if (addresses.length === 0)
    return [
      failed(
        'dns',
        `The name ${trunk.host} of OUTDIAL_SIP_TRUNK has no address (neither SRV nor ${family === 6 ? 'AAAA' : 'A'}): check its spelling and the resolver of this machine.`,
      ),
    ]
  return [
    ...(isIP(trunk.host) === 0 ? [ok('dns', `${trunk.host} is at ${listed(addresses)}.`)] : []),
    ...(await ask(sip, trunk, addresses, callNumber)),
  ]
}

/** The doctor takes a free port, because a running service may use the one of the settings. */
const anyPort = 0

const maxListed = 4
const listed = (addresses: readonly string[]): string =>
  addresses.length > maxListed
    ? `${addresses.slice(0, maxListed).join(', ')} and ${addresses.length - maxListed} more`
    : addresses.join(', ')

const resolve = async (trunk: Trunk, family: 4 | 6): Promise<readonly string[]> => {
  const uri = parseSipUri(trunkTarget(trunk))
  if (uri === undefined) return []
  const found = await createAddressFinder(family)(uri).catch(() => undefined)
  return [...new Set(found?.destinations.map(({ address }) => address))]
}

const ask = async (
  sip: Config['sip'],
  trunk: Trunk,
  addresses: readonly string[],
  callNumber: string | undefined,
): Promise<Finding[]> => {
  const line = createTrunkLine(trunk, { ...sip, port: anyPort }, silentLogger)
  try {
    await line.start()
    const findings = [
      describeHealth(trunk, await line.carrier.ping()),
      ...describePassword(trunk),
      await checkNat(sip, { trunk, addresses, line }),
    ]
    if (callNumber === undefined) return findings
    return [...findings, await tryCall(line, callNumber)]
  } catch (error) {
    return [failed('trunk', `The trunk at ${trunk.host} cannot be asked: ${messageOf(error)}.`)]
  } finally {
    await line.stop()
  }
}

const describeHealth = (trunk: Trunk, health: TrunkHealth): Finding => {
  const place = placeOfTrunk(trunk)
  if (!health.isAlive && health.isRefused)
    return failed(
      'trunk',
      `The trunk at ${place} refuses packets (connection refused): nothing listens at that address and port; check OUTDIAL_SIP_TRUNK, and that the trunk runs.`,
    )
  if (!health.isAlive && health.reason !== undefined)
    return failed(
      'trunk',
      `The trunk at ${place} cannot be reached: ${health.reason}. ${remedyOf(health.reason)}`,
    )
  if (!health.isAlive)
    return failed(
      'trunk',
      `The trunk at ${place} does not answer OPTIONS: check host, port and transport in OUTDIAL_SIP_TRUNK, that the firewall lets SIP out and its answers in, and that the carrier knows the address of this machine.`,
    )
  const said = `The trunk at ${place} answers OPTIONS with ${health.sipStatus} in ${Math.round(health.roundTripMs)} ms`
  const { status, meaning } = meaningOf(health.sipStatus, trunk)
  const build = { ok, warning, failed }[status]
  return build('trunk', meaning === '' ? `${said}.` : `${said}: ${meaning}`)
}

const remedyOf = (reason: string): string =>
  /TLS|certificate/i.test(reason)
    ? 'Ask the carrier for a certificate that fits, or see OUTDIAL_SIP_TLS_CA, OUTDIAL_SIP_TLS_NAME and OUTDIAL_SIP_TLS_CERT.'
    : 'Check host, port and transport in OUTDIAL_SIP_TRUNK, and that the firewall lets SIP out.'

/** A server responds to OPTIONS as to an INVITE (RFC 3261 11.2); carriers use these statuses in their own ways. */
const meaningOf = (
  sipStatus: number,
  trunk: Trunk,
): { readonly status: Finding['status']; readonly meaning: string } => {
  if (sipStatus < 300 || sipStatus === 405 || sipStatus === 501)
    return { status: 'ok', meaning: '' }
  if (sipStatus === 401 || sipStatus === 407)
    return trunk.credentials === undefined
      ? {
          status: 'warning',
          meaning:
            'it asks for a user and a password, and OUTDIAL_SIP_TRUNK has none; calls are refused if it asks for them there too.',
        }
      : {
          status: 'ok',
          meaning:
            'it asks for the password even here; `./outdial doctor --call NUMBER` shows whether it is right.',
        }
  if (sipStatus === 403)
    return {
      status: 'warning',
      meaning:
        'it does not know this machine, or refuses OPTIONS: allow the public address of this machine at the carrier, check user and domain, and try `./outdial doctor --call NUMBER`.',
    }
  if (sipStatus === 404)
    return {
      status: 'warning',
      meaning: `it is alive, but does not know this domain or user. Many carriers answer OPTIONS so; where calls fail too, check that ${trunk.host} is the name that the carrier gave you, and not one of its addresses.`,
    }
  if (sipStatus === 408 || sipStatus >= 500)
    return {
      status: 'failed',
      meaning: 'it is out of service at this moment; calls wait and are dialled when it is back.',
    }
  return { status: 'ok', meaning: 'it is alive.' }
}

const describePassword = (trunk: Trunk): Finding[] =>
  trunk.credentials === undefined || trunk.auth !== undefined
    ? []
    : [
        warning(
          'trunk',
          'The password of the trunk may be answered with MD5: add ;auth=sha-256 to OUTDIAL_SIP_TRUNK, or ;auth=md5 where the carrier has no better.',
        ),
      ]

interface Route {
  readonly trunk: Trunk
  readonly addresses: readonly string[]
  readonly line: TrunkLine
}

/** The local address of packets to the trunk decides, not the other addresses of this machine. */
const checkNat = async (
  { publicAddress: told }: Config['sip'],
  { trunk, addresses, line }: Route,
): Promise<Finding> => {
  const isPublicTrunk = addresses.some(isPublicAddress)
  const seen = await line.seenAs()
  if (told === undefined && seen !== undefined)
    return warning(
      'nat',
      `The trunk sees this machine as ${seen}, through a NAT: Contact carries that. SDP carries the private address: set OUTDIAL_PUBLIC_IP to the public one and forward the ports of OUTDIAL_RTP_PORTS (UDP), unless the carrier sends media back to where ours comes from.`,
    )
  if (told !== undefined)
    return isPublicTrunk && !isPublicAddress(told)
      ? warning(
          'nat',
          `Contact and SDP carry ${told}, a private address, which the trunk cannot reach: set OUTDIAL_PUBLIC_IP to the public one.`,
        )
      : ok('nat', `Contact and SDP carry ${told}.`)
  const local = await line.localHost()
  if (local === undefined)
    return warning(
      'nat',
      `This machine has no address that reaches the trunk at ${trunk.host}: check its network.`,
    )
  if (!isPublicTrunk) return ok('nat', `The trunk is in a private network, as is ${local}.`)
  return isPublicAddress(local)
    ? ok('nat', `The trunk is reached from the public address ${local}.`)
    : warning(
        'nat',
        `The trunk is reached from ${local}, a private address: set OUTDIAL_PUBLIC_IP to the address that the trunk sees, and forward OUTDIAL_SIP_PORT and the ports of OUTDIAL_RTP_PORTS (UDP).`,
      )
}
