-- The pace that a congested carrier left its trunk (503 without Retry-After): halved at each refusal, and rising by steps
-- from the first call that the carrier takes. `burst` and `refill_per_second` are those of this pace.
alter table trunks
  -- Calls per second now; null: `calls_per_second`.
  add column paced_per_second double precision check (paced_per_second > 0),
  -- When it was halved last: calls dialled before have nothing new to report.
  add column congested_at     timestamptz,
  add column congested_since  timestamptz,
  add column congested_reason text,
  -- Its last step up; null: no call was taken since it was halved.
  add column raised_at        timestamptz;

-- Congestion of one call: since when, and how often. A call that it never leaves is ended.
alter table calls
  add column congested_since timestamptz,
  add column congestions     integer not null default 0;

-- The route takes what its trunks take together, also where only their pace changes. Tokens that the trunks do not have
-- would let calls be claimed that no trunk dials.
create function sum_up_paces() returns trigger language plpgsql as $$
begin
  update routes r
     set burst             = t.burst,
         refill_per_second = t.refill,
         tokens            = least(r.tokens, t.tokens)
    from (select sum(burst) as burst, sum(refill_per_second) as refill,
                 sum(least(u.burst, u.tokens + u.refill_per_second
                           * greatest(0, extract(epoch from clock_timestamp() - u.refilled_at)::double precision))) as tokens
            from trunks u
           where not u.paused
             and exists (select from trunk_gateways g where g.trunk = u.name and g.down_since is null)) t
   where r.name = 'env'
     and t.burst is not null;
  return null;
end $$;

create trigger trunks_sum_up_paces after update of paced_per_second on trunks
  for each statement execute function sum_up_paces();
