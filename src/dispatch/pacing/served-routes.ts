import type { ServedRoute } from './route-pacing.ts'

const sandboxCallsPerSecond = 50

/** The routes of a node, with the trunks first: sandbox calls must not delay calls to people. */
export const servedRoutes = (
  /** Undefined: the default. */
  callsPerSecond: number | undefined,
): readonly ServedRoute[] => [
  { name: 'env' },
  { name: 'sandbox', callsPerSecond: callsPerSecond ?? sandboxCallsPerSecond },
]
