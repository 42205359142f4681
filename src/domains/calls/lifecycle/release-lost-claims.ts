import { decisionFragment, heldBy } from './call-fragments.ts'

/**
 * The text of the statement that frees calls which were claimed and not dialled, and whose holder is gone: they stay
 * `queued`. `condition` says which, of the row `c`; src/dispatch/lease/rescue.ts has the two there are.
 */
export const releaseLostClaimsText = (condition: string): string => `with lost as materialized (
     select c.organization_id, c.id, c.lease_token
       from calls c
      where c.lease_token is not null
        and c.status = 'queued'
        and ${condition}
   ),
   woken as (
     update dispatch_organizations
        set ready = true
      where organization_id in (select organization_id from lost)
     returning organization_id
   ),
   held as materialized (
     -- A row that somebody holds is left for the next sweep: a process that was paused amid a transaction must not keep
     -- the others from coming back.
     -- Each is looked for by itself: joined, it could be sought among all calls of its organization.
     select c.organization_id, c.id
       from lost l
       join woken w on w.organization_id = l.organization_id
      cross join lateral (
        select organization_id, id
          from calls
         where organization_id = l.organization_id
           and id = l.id
           and ${heldBy('l.lease_token')}
           and status = 'queued'
         limit 1
           for update skip locked
      ) c
   )
   update calls c
      set lease_token = null,
          node_id     = null,
          claimed_at  = null,
          ${decisionFragment({ decision: "'requeued'", reason: "'Its node stopped before it was dialled.'" })}
     from held h
    where c.organization_id = h.organization_id
      and c.id = h.id`
