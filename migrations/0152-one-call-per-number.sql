-- One live call per number and organization (D3): a call to a number that is being dialled or talked to waits.

-- The wall: whatever else goes wrong, `dialing` is not committed twice for one number. Set by the gate; calls that were live
-- before this rule do not have it and stand outside.
alter table calls add column holds_number boolean not null default false;
create unique index calls_number_held on calls (organization_id, phone_number)
  where holds_number and status in ('dialing', 'in_progress');

-- Claimed calls hold their number too. Claims look here before they take a call.
drop index calls_live;
create index calls_live on calls (organization_id, phone_number, route) where lease_token is not null;

-- Calls that wait for their number are parked (wait_reason 'number_in_use', not_before 'infinity'), out of the way of those
-- that do not. When the number is let go, the first of each lane is due again and marked, until it is claimed or parked anew.
-- Invariant: a number that no live call holds has such a call in every lane where calls are parked for it.
alter table calls add column number_next boolean not null default false;
create index calls_number_waiting on calls (organization_id, phone_number, lane_id, number_next, id)
  where status = 'queued' and (wait_reason = 'number_in_use' or number_next);
alter table calls drop constraint calls_wait_reason_check;
alter table calls add constraint calls_wait_reason_check
  check (wait_reason in ('carrier_congestion', 'attempts_per_day', 'not_sent', 'no_engine', 'trunk_down',
                         'number_in_use')) not valid;

-- Of each lane, since some may be closed or paused; all but one of them find the number in use again. A row that another
-- transaction holds is passed over for the next one, so that nobody waits here: that one is ending it. The caller has woken
-- the organization.
create function let_next_of_number_go(organization uuid, number text) returns void language sql as $$
  with recursive waiting (lane_id) as (
    (select c.lane_id from calls c
      where c.organization_id = organization and c.phone_number = number
        and c.status = 'queued' and c.wait_reason = 'number_in_use'
      order by c.lane_id limit 1)
     union all
    (select n.lane_id
       from waiting w
      cross join lateral (
        select c.lane_id from calls c
         where c.organization_id = organization and c.phone_number = number
           and c.status = 'queued' and c.wait_reason = 'number_in_use'
           and c.lane_id > w.lane_id
         order by c.lane_id limit 1) n)
  ),
  first_of_lane as materialized (
    select f.id
      from waiting w
     cross join lateral (
       select c.id from calls c
        where c.organization_id = organization and c.phone_number = number and c.lane_id = w.lane_id
          and c.status = 'queued' and c.wait_reason = 'number_in_use' and not c.number_next
        order by c.id limit 1
          for no key update skip locked) f
     where not exists (select from calls c
                        where c.organization_id = organization and c.phone_number = number and c.lane_id = w.lane_id
                          and c.status = 'queued' and c.number_next)
  )
  -- Before those that came after it.
  update calls c set not_before = least(c.queued_at, now()), wait_reason = null, number_next = true
    from first_of_lane f
   where c.organization_id = organization and c.id = f.id
$$;

-- A call lets its number go when it ends, goes back to the queue, or is forgotten. So does one that was let go and leaves
-- the queue otherwise than by a claim: the next of its lane comes in its place, whoever holds the number meanwhile.
create function release_number() returns trigger language plpgsql as $$
begin
  if not exists (select from calls
                  where organization_id = old.organization_id and phone_number = old.phone_number
                    and status = 'queued' and wait_reason = 'number_in_use') then
    return null;
  end if;
  if not old.number_next and exists (select from calls
                                      where organization_id = old.organization_id and phone_number = old.phone_number
                                        and lease_token is not null) then
    return null;
  end if;
  perform let_next_of_number_go(old.organization_id, old.phone_number);
  return null;
end $$;

create trigger calls_release_number after update of lease_token, status, phone_number on calls
  for each row when ((old.lease_token is not null and (new.lease_token is null or new.phone_number <> old.phone_number))
                     or (old.number_next and old.status = 'queued'
                         and (new.status <> 'queued' or new.phone_number <> old.phone_number)))
  execute function release_number();
