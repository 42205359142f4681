-- An edit of the policy may also close hours on calls of runs that are queued: those runs look again too, and wait.

create index automation_runs_calling on automation_runs (organization_id)
  where phase = 'call' and status in ('running', 'waiting');

create or replace function wake_runs_of_policy() returns trigger language plpgsql as $$
begin
  update automation_runs set wake_at = now(), wake_count = wake_count + 1
   where organization_id = new.id
     and (wait_reason = 'calling_hours' or (phase = 'call' and status in ('running', 'waiting')));
  return null;
end $$;
