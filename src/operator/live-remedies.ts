import type { LiveLack } from '../domains/organizations/organization-mode.ts'

/** What an operator does about each thing that live organizations lack. */
export const liveRemedies: Readonly<Record<LiveLack, string>> = {
  no_trunk: 'add a trunk with `./outdial trunk add`, or set OUTDIAL_SIP_TRUNK',
  no_caller_id:
    'give organizations numbers with `./outdial number add`, or set OUTDIAL_CALLER_ID to the number that callees are shown',
  no_engine:
    'set OUTDIAL_ENGINE to realtime or cascade and name its server (sandbox, the scripted one, counts only when it is said), or give agents an engine',
}
