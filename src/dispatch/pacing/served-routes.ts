import type { ServedRoute } from './route-pacing.ts'

const sandboxCallsPerSecond = 50

/** The routes of a node, with the trunks first: sandbox calls must not delay calls to people. */
export const servedRoutes = (
  /** Undefined: the default. */
  callsPerSecond: number | undefined,
  servesLive: boolean,
): readonly ServedRoute[] => [
  ...(servesLive ? [{ name: 'env' as const }] : []),
  { name: 'sandbox', callsPerSecond: callsPerSecond ?? sandboxCallsPerSecond },
]
