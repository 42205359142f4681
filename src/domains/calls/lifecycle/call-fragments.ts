/* The pieces of SQL that every statement about calls shares. `$1` is always the organization. */

/**
 * Wakes the organization, if needed, before any call is locked: every transaction locks organizations before calls,
 * so that no two can wait for each other. Needs `wokenFirst` in the condition of what follows. An unneeded wake-up
 * is harmless. migrations/0041-wake-organization.sql describes the protocol that loses no wake-up.
 */
export const wokenFragment = `woken as materialized (
     select wake_organization($1) as is_known
   )`

export const wokenFirst = `(select is_known from woken)`

/**
 * Whether this token still holds the call. Worded unlike every index predicate, so that the call is found by its
 * id, and not among all live calls of its organization.
 */
export const heldBy = (token: string, leaseToken = 'lease_token'): string =>
  `coalesce(${leaseToken} = ${token}, false)`

/** Decisions kept per call. The first stays (why the call was made); of the others the oldest is dropped. */
const maxDecisions = 50

interface DecisionParts {
  /** SQL expressions, usually parameters. */
  readonly decision: string
  readonly reason: string
  readonly until?: string
}

/** Appends to `decisions`: the decision about the call and its reason, in the same write. */
export const decisionFragment = ({ decision, reason, until = 'null' }: DecisionParts): string =>
  `decisions = (case when jsonb_array_length(decisions) < ${maxDecisions} then decisions else decisions - 1 end)
           || jsonb_strip_nulls(jsonb_build_object('at', now(), 'decision', ${decision}::text,
                'reason', ${reason}::text, 'until', (${until})::timestamptz))`
