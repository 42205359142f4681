/** Why our side ended a call. */
export type HangUpReason =
  | 'agent_ended'
  | 'opted_out'
  | 'voicemail'
  | 'callee_silent'
  | 'duration_cap'
  | 'transferred'
  /** The line gives the tone of a call whose other side has hung up. */
  | 'callee_gone'
  /** A fax, a busy tone or an announcement of the network answered. */
  | 'nobody_there'
  | 'engine_failed'
