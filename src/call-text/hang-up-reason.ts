/** Why our side ended a call. */
export type HangUpReason =
  | 'agent_ended'
  | 'opted_out'
  | 'voicemail'
  | 'callee_silent'
  | 'duration_cap'
  | 'transferred'
  /** The line carries the tone that follows the other side's hang-up. */
  | 'callee_gone'
  /** A fax, a busy tone or an announcement of the network answered. */
  | 'nobody_there'
  /** The callee held the line for too long. */
  | 'held_too_long'
  | 'engine_failed'
