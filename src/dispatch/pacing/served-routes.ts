import type { ServedRoute } from './route-pacing.ts'

/** Calls per second by default; carriers sell trunks with about this rate. */
const defaultCallsPerSecond = { sandbox: 50, trunk: 10 } as const

interface RouteSettings {
  /** The limit of each route; undefined: its default. */
  readonly callsPerSecond: number | undefined
  /** Calls at once on the trunk, over all nodes. */
  readonly trunkChannels: number | undefined
}

/** The routes of a node, with the trunk first: sandbox calls must not delay calls to people. */
export const servedRoutes = (
  { callsPerSecond, trunkChannels }: RouteSettings,
  servesLive: boolean,
): readonly ServedRoute[] => [
  ...(servesLive
    ? [
        {
          name: 'env' as const,
          callsPerSecond: callsPerSecond ?? defaultCallsPerSecond.trunk,
          ...(trunkChannels !== undefined && { channels: trunkChannels }),
        },
      ]
    : []),
  { name: 'sandbox', callsPerSecond: callsPerSecond ?? defaultCallsPerSecond.sandbox },
]
