-- An edit of the policy may allow more attempts per number and day: calls that wait for their next day are judged again.
create index calls_out_of_attempts on calls (organization_id)
  where status = 'queued' and wait_reason = 'attempts_per_day';

create or replace function reopen_dispatch() returns trigger language plpgsql as $$
begin
  update dispatch_organizations set ready = true where organization_id = new.id;
  if new.policy is distinct from old.policy then
    update lanes set opens_at = null, closes_at = null, recompute_at = '-infinity'
     where organization_id = new.id
       and recompute_at < 'infinity';
  end if;
  -- Only where it may help: they go through the gate again, one by one.
  if coalesce((new.policy ->> 'attempts_per_number_per_day')::integer, 2147483647)
       > coalesce((old.policy ->> 'attempts_per_number_per_day')::integer, 2147483647)
     or new.policy ->> 'time_zone' is distinct from old.policy ->> 'time_zone' then
    update calls set not_before = now(), wait_reason = null
     where organization_id = new.id
       and status = 'queued'
       and wait_reason = 'attempts_per_day';
  end if;
  return null;
end $$;
