import type { ShownTrunk } from '../../domains/trunks/trunk-resource.ts'
import type { TrunkTest } from '../../operator/test-trunk.ts'
import { facts, type Lines, type Piece } from '../terminal/output.ts'
import { table } from '../terminal/table.ts'

const styles = { up: 'good', trial: 'poor', paused: 'poor', down: 'bad' } as const

const stateOf = (state: keyof typeof styles): Piece => ({ style: styles[state], text: state })

/** A row of `trunk list`. */
export const trunkRow = (trunk: ShownTrunk): Piece[] => [
  trunk.name,
  stateOf(trunk.state),
  trunk.uris.join(' '),
  String(trunk.priority),
  channelsOf(trunk),
  paceOf(trunk),
  listed(trunk.countries),
  registrationOf(trunk) ?? '',
]

const channelsOf = ({ live_calls: live, channels }: ShownTrunk): string =>
  channels === null ? `${live}, no limit` : `${live} of ${channels}`

/** Everything that was set, and how each gateway is. */
export const describeTrunk = (trunk: ShownTrunk, width?: number): Lines => [
  ...facts(
    [
      ['name', trunk.name],
      ['from', trunk.source === 'env' ? 'OUTDIAL_SIP_TRUNK' : 'the database'],
      ['state', stateOf(trunk.state)],
      ['reason', trunk.reason ?? undefined],
      ['priority', `${trunk.priority}, weight ${trunk.weight}`],
      ['channels', channelsOf(trunk)],
      ['calls per second', paceOf(trunk)],
      ['congested since', trunk.congested_since ?? undefined],
      ['countries', listed(trunk.countries)],
      ['organizations', listed(trunk.organizations)],
      ['user', trunk.user],
      ['password', trunk.has_password ? 'set' : undefined],
      ['realm', trunk.realm],
      ['from user', trunk.from_user],
      ['from domain', trunk.from_domain],
      ['identity', trunk.identity],
      ['privacy', trunk.privacy === 'none' ? undefined : trunk.privacy],
      ['diversion', trunk.diversion],
      [
        'number format',
        trunk.strip === 0 ? trunk.number_format : `${trunk.number_format}, strip ${trunk.strip}`,
      ],
      ['headers', trunk.headers.length === 0 ? undefined : trunk.headers.join(', ')],
      ['outbound proxy', trunk.outbound_proxy],
      ['redirects to', trunk.redirect_to?.length ? trunk.redirect_to.join(', ') : undefined],
      ['codecs', trunk.codecs.join(', ')],
      ['srtp', trunk.srtp],
      ['dtmf', trunk.dtmf],
      ['tls', trunk.tls === null ? undefined : tlsText(trunk.tls)],
      ['registration', registrationOf(trunk)],
    ],
    width,
  ),
  '',
  ...linesOf(
    table(
      ['GATEWAY', 'STATE', 'SINCE', 'TRIED AGAIN', 'REASON'],
      trunk.gateways.map((gateway) => [
        gateway.uri,
        stateOf(gateway.state),
        gateway.down_since ?? '',
        gateway.retry_at ?? '',
        gateway.reason ?? '',
      ]),
      '',
      width,
    ),
  ),
]

/** What each gateway said. */
export const describeTest = (test: TrunkTest, width?: number): Lines =>
  linesOf(
    table(
      ['GATEWAY', 'METHOD', 'RESULT', 'FINDING'],
      test.gateways.map(({ uri, method, ok, message }) => [
        uri,
        method,
        ok ? { style: 'good', text: 'ok' } : { style: 'bad', text: 'failed' },
        message,
      ]),
      'The trunk has no gateway.',
      width,
    ),
  )

const linesOf = (text: string | Lines): Lines =>
  typeof text === 'string' ? text.split('\n') : text

const listed = (values: readonly string[] | 'all'): string =>
  values === 'all' ? 'all' : values.join(', ')

const registrationOf = ({ register, registrations }: ShownTrunk): string | undefined => {
  if (!register) return undefined
  if (registrations.length === 0) return 'no node is running'
  const done = registrations.filter(({ state }) => state === 'registered').length
  const failed = registrations.find(({ state }) => state === 'failed')
  const share = `${done} of ${registrations.length} registered`
  return failed === undefined ? share : `${share}: ${failed.reason ?? 'refused'}`
}

const tlsText = (tls: NonNullable<ShownTrunk['tls']>): string =>
  [
    tls.verify ? 'certificates verified' : 'certificates NOT verified',
    `at least ${tls.min_version}`,
    ...(tls.ca === undefined ? [] : ['own authorities']),
    ...(tls.certificate === undefined ? [] : ['client certificate']),
    ...(tls.server_name === undefined ? [] : [`name ${tls.server_name}`]),
  ].join(', ')

/** A congested carrier gets fewer calls. */
const paceOf = ({ cps, paced_cps: paced }: ShownTrunk): string =>
  paced === null ? String(cps) : `${Math.round(paced * 100) / 100} of ${cps}`
