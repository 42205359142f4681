-- A trunk on trial keeps its channels: calls that were live before its outage hold some of them, and must not keep the one
-- call that tries it from being dialled. That there is one such call at a time is decided where a call gets its trunk.
create or replace function sum_up_trunks() returns trigger language plpgsql as $$
declare
  is_down boolean;
begin
  perform from routes where name = 'env' for update;

  with usable as (
    select t.channels, t.calls_per_second, t.burst, t.refill_per_second
      from trunks t
     where not t.paused
       and exists (select from trunk_gateways g where g.trunk = t.name and g.down_since is null)
  ),
  total as (
    select count(*) as count, case when bool_or(channels is null) then null else sum(channels) end as channels,
           sum(calls_per_second) as calls_per_second, sum(burst) as burst, sum(refill_per_second) as refill
      from usable
  ),
  fault as (
    select g.down_since, g.down_cause, g.down_reason, g.ping_at, g.retry_at
      from trunk_gateways g
      join trunks t on t.name = g.trunk
     where not t.paused and g.down_since is not null
     order by t.priority, t.name, g.position
     limit 1
  ),
  first_fault as (
    select f.* from (select 1) as one left join fault f on true
  )
  update routes r
     set channels          = case when t.count = 0 then 0 else t.channels end,
         calls_per_second  = coalesce(t.calls_per_second, r.calls_per_second),
         burst             = coalesce(t.burst, r.burst),
         refill_per_second = coalesce(t.refill, r.refill_per_second),
         tokens            = case when t.count > 0 and r.down_since is not null then 1
                                  else least(r.tokens, coalesce(t.burst, r.burst)) end,
         refilled_at       = case when t.count > 0 and r.down_since is not null then clock_timestamp() else r.refilled_at end,
         recovered_at      = case when t.count > 0 and r.down_cause in ('unreachable', 'credentials', 'congested', 'registration')
                                  then clock_timestamp() else r.recovered_at end,
         down_since        = case when t.count > 0 then null else coalesce(r.down_since, f.down_since, clock_timestamp()) end,
         down_cause        = case when t.count > 0 then null
                                  when f.down_cause is not null then f.down_cause
                                  when exists (select from trunks) then 'paused' else 'none' end,
         down_reason       = case when t.count > 0 then null
                                  when f.down_reason is not null then f.down_reason
                                  when exists (select from trunks) then 'Every trunk is paused.'
                                  else 'No trunk is set up.' end,
         ping_at           = case when t.count > 0 then null else f.ping_at end,
         retry_at          = case when t.count > 0 then null else f.retry_at end
    from total t, first_fault f
   where r.name = 'env'
  returning r.down_since is not null into is_down;

  -- Calls that waited for a trunk are judged again, once.
  if not is_down then
    update dispatch_organizations
       set ready = true
     where organization_id in (select organization_id from calls
                                where status = 'queued' and wait_reason in ('trunk_down', 'no_trunk'));
    update calls
       set not_before = least(not_before, now())
     where status = 'queued'
       and lease_token is null
       and wait_reason in ('trunk_down', 'no_trunk')
       and not_before > now();
  end if;
  return null;
end $$;
