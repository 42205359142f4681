import type { OrganizationMode } from '../../domains/organizations/organization-mode.ts'
import type { EnvironmentTrunk } from '../../domains/trunks/environment-trunk.ts'
import { trunkTarget, type Trunk } from '../../telephony/trunk-uri.ts'

/** Calls per second where nothing was set; carriers sell trunks with about this rate. */
const defaultCallsPerSecond = 10

interface TrunkLimits {
  readonly trunkChannels: number | undefined
  readonly callsPerSecond: number | undefined
}

/** What may be shown of the trunk of OUTDIAL_SIP_TRUNK. */
export const describeEnvironmentTrunk = (
  trunk: Trunk | undefined,
  { trunkChannels, callsPerSecond }: TrunkLimits,
): EnvironmentTrunk | undefined =>
  trunk && {
    uri: trunkTarget(trunk),
    user: trunk.credentials?.username,
    media: trunk.media,
    auth: trunk.auth,
    srtp: trunk.srtp,
    dtmf: trunk.dtmf,
    redirectTo: trunk.redirectTo,
    channels: trunkChannels,
    callsPerSecond: callsPerSecond ?? defaultCallsPerSecond,
  }

/** The configured port belongs to the trunks if there are any. */
export const sandboxPortBeside = (trunks: number, { port }: { readonly port: number }): number =>
  trunks === 0 ? port : 0

/** What an organization of before the modes is, now that this installation has trunks or none. */
export const modeBeside = (trunks: number): OrganizationMode => (trunks === 0 ? 'sandbox' : 'live')

/** For people; undefined: there is none. */
export const nameTrunks = (names: readonly string[]): string | undefined => {
  const [only] = names
  if (only === undefined) return undefined
  return names.length === 1 ? `the trunk ${only}` : `${names.length} trunks`
}
