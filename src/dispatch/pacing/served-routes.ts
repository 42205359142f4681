import type { ServedRoute } from './route-pacing.ts'

/** Calls per second that the sandbox takes; a trunk gets the modest rate that carriers sell. */
const defaultCallsPerSecond = { sandbox: 50, trunk: 10 } as const

interface RouteSettings {
  /** Of the trunk and of the sandbox, each; their own defaults if undefined. */
  readonly callsPerSecond: number | undefined
  /** Calls at once on the trunk, over all nodes. */
  readonly trunkChannels: number | undefined
}

/** Calls to people come first: what a developer tries must not keep them from being placed. */
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
