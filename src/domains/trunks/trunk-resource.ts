import { formatDateTime } from '../../contract/date-time.ts'
import { environmentTrunk, type TrunkSettings } from './trunk-settings.ts'
import type { GatewayFaultCause, TrunkRow } from './trunk-store.ts'

/** A trunk as commands and the dashboard show it (D16): what was set, without secrets, and how it is. */
export interface ShownTrunk extends Omit<TrunkSettings, 'tls'> {
  readonly name: string
  /** `env`: from OUTDIAL_SIP_TRUNK, not editable here. */
  readonly source: 'env' | 'database'
  readonly state: 'up' | 'down' | 'paused'
  readonly reason: string | null
  readonly priority: number
  readonly weight: number
  readonly channels: number | null
  readonly cps: number
  /** Fewer, while the carrier is congested; null: all of them. */
  readonly paced_cps: number | null
  readonly congested_since: string | null
  readonly countries: readonly string[] | 'all'
  readonly organizations: readonly string[] | 'all'
  readonly paused: boolean
  readonly has_password: boolean
  readonly tls: (Omit<NonNullable<TrunkSettings['tls']>, never> & { has_key: boolean }) | null
  readonly live_calls: number
  readonly gateways: readonly ShownGateway[]
  readonly registrations: readonly ShownRegistration[]
  readonly created_at: string
  readonly updated_at: string
}

interface ShownGateway {
  readonly uri: string
  /** `trial`: one call at a time tries whether it works again. */
  readonly state: 'up' | 'down' | 'trial'
  readonly cause: GatewayFaultCause | null
  readonly reason: string | null
  readonly down_since: string | null
  readonly retry_at: string | null
}

interface ShownRegistration {
  readonly gateway: string
  readonly node: string
  readonly state: 'registering' | 'registered' | 'failed'
  readonly reason: string | null
  readonly expires_at: string | null
}

/** Which secrets a trunk has; `undefined`: they cannot be read with this installation's key. */
export interface KeptSecrets {
  readonly password?: string
  readonly tls_key?: string
}

export const trunkOfRow = (row: TrunkRow, secrets: KeptSecrets | undefined): ShownTrunk => {
  const { tls, ...settings } = row.settings
  const gateways = row.gateways.map((gateway): ShownGateway => {
    const isDown = gateway.down_since !== null
    return {
      uri: gateway.uri,
      state: isDown ? 'down' : gateway.is_trial ? 'trial' : 'up',
      cause: gateway.down_cause,
      reason: gateway.down_reason,
      down_since: instant(gateway.down_since),
      retry_at: isDown ? instant(gateway.retry_at) : null,
    }
  })
  const isUp = gateways.some(({ state }) => state !== 'down')
  return {
    name: row.name,
    source: row.name === environmentTrunk ? 'env' : 'database',
    state: row.paused ? 'paused' : isUp ? 'up' : 'down',
    reason: row.paused || isUp ? null : (gateways[0]?.reason ?? null),
    ...settings,
    tls: tls === undefined ? null : { ...tls, has_key: secrets?.tls_key !== undefined },
    priority: row.priority,
    weight: row.weight,
    channels: row.channels,
    cps: row.calls_per_second,
    paced_cps: row.paced_per_second,
    congested_since: row.congested_since && formatDateTime(new Date(row.congested_since)),
    countries: row.countries ?? 'all',
    organizations: row.organizations ?? 'all',
    paused: row.paused,
    has_password: row.secrets !== null && (secrets === undefined || secrets.password !== undefined),
    live_calls: row.live_calls,
    gateways,
    registrations: row.registrations.map((each) => ({
      ...each,
      expires_at: instant(each.expires_at),
    })),
    created_at: formatDateTime(row.created_at),
    updated_at: formatDateTime(row.updated_at),
  }
}

/** PostgreSQL writes instants into JSON with its own offset. */
const instant = (text: string | null): string | null =>
  text === null ? null : formatDateTime(new Date(text))
