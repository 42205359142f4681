import type { Config } from '../config.ts'
import type { LiveLack } from '../domains/organizations/organization-mode.ts'
import { createEngineChoice, type EngineConfig } from './engines.ts'

/** The settings that calls of live organizations need. */
export type LiveConfig = EngineConfig & Pick<Config, 'OUTDIAL_SIP_TRUNK' | 'OUTDIAL_CALLER_ID'>

/**
 * What calls of live organizations lack here, so that they wait in `queued` (decision D15). Without an engine of the
 * installation agents with one of their own are served all the same.
 */
export const liveLacks = (config: LiveConfig): readonly LiveLack[] => [
  ...(config.OUTDIAL_SIP_TRUNK === undefined ? (['no_trunk'] as const) : []),
  ...(config.OUTDIAL_CALLER_ID === undefined ? (['no_caller_id'] as const) : []),
  ...(hasEngine(config) ? [] : (['no_engine'] as const)),
]

const hasEngine = (config: LiveConfig): boolean =>
  typeof createEngineChoice(config, () => 'ws://127.0.0.1')({}, 'live') === 'object'

/** How to mend it, for whoever starts or examines an installation. */
export const remedies: Readonly<Record<LiveLack, string>> = {
  no_trunk: 'set OUTDIAL_SIP_TRUNK to the trunk',
  no_caller_id: 'set OUTDIAL_CALLER_ID to the number that callees are shown',
  no_engine:
    'set OUTDIAL_ENGINE to realtime or cascade and name its server (sandbox, the scripted one, counts only when it is said), or give agents an engine',
}
