/** The base values every transaction timer is computed from (RFC 3261 17.1.1.1 and table 4). */
export interface TransactionTiming {
  /** Estimate of the round trip. */
  readonly t1Ms: number
  /** Longest pause between retransmissions of a non-INVITE request or an INVITE response. */
  readonly t2Ms: number
  /** Longest time a message stays in the network. */
  readonly t4Ms: number
}

export const defaultTiming: TransactionTiming = { t1Ms: 500, t2Ms: 4000, t4Ms: 5000 }

/** 64 × T1: timers B, F, H, J, L, M, and how long a 2xx is repeated. */
export const transactionTimeoutMs = (timing: TransactionTiming): number => 64 * timing.t1Ms
