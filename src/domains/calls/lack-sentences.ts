import type { LiveLack } from '../organizations/organization-mode.ts'

/** Why calls of live organizations wait, and the remedy. */
export const lackSentences: Readonly<Record<LiveLack, string>> = {
  no_trunk:
    'Its organization is live and there is no trunk: add one with trunk add, or set OUTDIAL_SIP_TRUNK and start Outdial again.',
  no_caller_id:
    'Its organization is live and has no number to show to the callee: give it one with number add, or set OUTDIAL_CALLER_ID and start Outdial again.',
  no_engine:
    'Its organization is live and its agent has no voice engine: set OUTDIAL_ENGINE with its server, or make an agent with an engine, and start Outdial again.',
}
