-- Sandbox and live organizations beside each other. An organization's mode is fixed at creation and decides its route:
-- calls of a sandbox organization go to the sandbox carrier, calls of a live one to the trunk, never the other way.

-- Null: an organization of before, whose calls went wherever the installation's calls went. The next start decides it for
-- good: `live` where a trunk is configured, else `sandbox`, so that its calls go where they went until now. Until then
-- nothing of it is dialled.
alter table organizations add column mode text check (mode in ('sandbox', 'live'));
alter table organizations rename column is_sandbox to is_first;
alter index organizations_sandbox rename to organizations_first;
alter table organizations alter column mode set default 'live';
update organizations set mode = 'sandbox' where is_first;

-- What a route takes. 'sandbox' is the sandbox carrier, 'env' the trunk of OUTDIAL_SIP_TRUNK.
alter table trunk rename to routes;
alter table routes add column name text;
update routes set name = 'env';
alter table routes drop column id;
alter table routes add primary key (name);
-- Calls at once, over all nodes. Null: as many as the nodes hold.
alter table routes alter column channels drop not null;
insert into routes (name, channels, calls_per_second, burst, refill_per_second) values ('sandbox', 0, 1, 1, 1);

-- What a node offers: its own channels, the routes it claims calls for, and what live organizations lack on it.
alter table nodes
  add column max_channels integer not null default 0,
  add column routes       text[]  not null default '{}',
  add column lacks        text[]  not null default '{}';

-- Null: not dialled before the mode is decided.
alter table dispatch_organizations add column route text;
update dispatch_organizations set route = 'sandbox'
 where organization_id in (select id from organizations where mode = 'sandbox');

drop index dispatch_organizations_ready;
create index dispatch_organizations_ready on dispatch_organizations (route, virtual_time, organization_id) where ready;

create or replace function add_dispatch_organization() returns trigger language plpgsql as $$
begin
  insert into dispatch_organizations (organization_id, route)
  values (new.id, case new.mode when 'sandbox' then 'sandbox' when 'live' then 'env' end);
  return null;
end $$;

-- The route by which a call was claimed: live rows are counted by it under the route's lock.
alter table calls add column route text;
update calls c set route = d.route
  from dispatch_organizations d
 where d.organization_id = c.organization_id
   and c.lease_token is not null;
drop index calls_live;
create index calls_live on calls (organization_id, route) where lease_token is not null;
-- Calls that wait for an engine; a start that has one lets them go.
create index calls_without_engine on calls (organization_id) where status = 'queued' and wait_reason = 'no_engine';
alter table calls drop constraint calls_wait_reason_check;
alter table calls add constraint calls_wait_reason_check
  check (wait_reason in ('carrier_congestion', 'attempts_per_day', 'not_sent', 'no_engine', 'trunk_down')) not valid;
