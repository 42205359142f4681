interface LeaseParts {
  /** The rows to lease, locked: `row_place` (their ctid), `organization_id`, `is_free`, `rank`, `source_id`. */
  readonly from: string
  /** SQL expressions, usually parameters. */
  readonly nodeId: string
  readonly route: string
}

/**
 * The claim: calls stay `queued` and get a lease, whose token fences every later write. The surrounding statement
 * decides which calls are taken, and in which order: src/dispatch/claim/claim-statements.ts.
 */
export const leaseCallsFragment = ({ from, nodeId, route }: LeaseParts): string => `update calls c
        set lease_token = gen_random_uuid(),
            node_id     = ${nodeId},
            claimed_at  = statement_timestamp(),
            wait_reason = null,
            number_next = false,
            -- Until one is chosen for this attempt, it holds no channel of any.
            trunk       = null,
            route       = ${route}
       from ${from} h
      -- Where it was locked: not looked for again.
      where c.ctid = h.row_place
        and c.organization_id = h.organization_id
        and h.is_free
     returning c.organization_id, c.id, c.lease_token, h.rank, h.source_id`
