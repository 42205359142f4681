/**
 * The pieces of SQL that every statement about calls shares. `$1` is always the organization.
 *
 * Wake-up protocol: `organization` reads `ready` under FOR KEY SHARE, kept until commit. Dispatch clears `ready` only
 * under FOR UPDATE, which waits for nobody and looks again afterwards; so whoever saw `true` has committed before that
 * look, and whoever comes later sees `false` and sets it. Key-share locks do not wait for each other.
 */
export const organizationFragment = `organization as (
     select organization_id, ready
       from dispatch_organizations
      where organization_id = $1
        for key share
   )`

/**
 * Wakes the organization, if need be, before any call is locked: everybody locks organizations before calls, so that no
 * two can wait for each other. Needs `organization`, and `wokenFirst` in the condition of what follows. Waking for
 * nothing is harmless.
 */
export const wakeFragment = `woken as (
     update dispatch_organizations d
        set ready = true
       from organization o
      where d.organization_id = o.organization_id
        and not o.ready
     returning d.organization_id
   )`

export const wokenFirst = `(select count(*) from woken) >= 0`

/** Kept decisions per call. The first stays (why it came here); of the others the oldest goes. */
export const maxDecisions = 50

interface DecisionParts {
  /** SQL expressions, usually parameters. */
  readonly decision: string
  readonly reason: string
  readonly until?: string
}

/** Appends to `decisions`: what was decided about the call and why, in the same write. */
export const decisionFragment = ({ decision, reason, until = 'null' }: DecisionParts): string =>
  `decisions = (case when jsonb_array_length(decisions) < ${maxDecisions} then decisions else decisions - 1 end)
           || jsonb_strip_nulls(jsonb_build_object('at', now(), 'decision', ${decision}::text,
                'reason', ${reason}::text, 'until', (${until})::timestamptz))`
