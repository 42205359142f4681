-- Trunks of the installation (D16), beside the one of OUTDIAL_SIP_TRUNK, which is the row 'env'. Organizations of mode
-- 'live' share the route 'env' of `routes`: its row is the sum of the trunks that can be used now, so that a claim takes no
-- call that no trunk could carry. Which trunk carries a claimed call is decided for each call under the trunks' locks.
--
-- Lock order: trunks, trunk_gateways, routes, dispatch_organizations, lanes, calls.

create table trunks (
  name              text             primary key check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  -- What an administrator set, but for the columns below and the secrets. Of 'env' only what may be shown.
  settings          jsonb            not null default '{}',
  -- Password and TLS key as JSON, AES-256-GCM by the installation's key.
  secrets           bytea,
  priority          integer          not null default 10 check (priority between 0 and 1000),
  weight            integer          not null default 1 check (weight between 1 and 1000),
  -- Calls at once and calls per second, over all nodes. Null: as many as the nodes hold.
  channels          integer          check (channels > 0),
  calls_per_second  double precision not null check (calls_per_second > 0),
  -- ISO 3166; null: every country.
  countries         text[],
  -- Null: every live organization.
  organizations     uuid[],
  paused            boolean          not null default false,
  -- Rises with each change of what nodes must load.
  revision          bigint           not null default 1,
  -- Its bucket, as in `routes`; below zero: places taken in advance.
  burst             double precision not null default 1,
  refill_per_second double precision not null default 1,
  tokens            double precision not null default 1,
  refilled_at       timestamptz      not null default now(),
  recovered_at      timestamptz,
  created_at        timestamptz      not null default now(),
  updated_at        timestamptz      not null default now()
) with (fillfactor = 10, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000);

-- The addresses of a trunk, each with the circuit that `routes` had until now.
create table trunk_gateways (
  trunk        text        not null references trunks (name) on update cascade on delete cascade,
  -- Without user and password.
  uri          text        not null,
  -- Tried in this order.
  position     integer     not null,
  down_since   timestamptz,
  -- 'unreachable': a response to OPTIONS closes the circuit. 'congested': the time it asked for, or 5 s. The others: a
  -- call, or a registration, that succeeds.
  down_cause   text        check (down_cause in ('unreachable', 'credentials', 'congested', 'registration')),
  down_reason  text,
  ping_at      timestamptz,
  retry_at     timestamptz,
  openings     integer     not null default 0,
  recovered_at timestamptz,
  -- Let through to try: one call at a time until one shows that it works.
  trial_since  timestamptz,
  primary key (trunk, uri)
) with (fillfactor = 50);

-- Null: by no trunk yet.
alter table calls add column trunk text;

alter table routes drop constraint routes_down_cause_check;
alter table routes add constraint routes_down_cause_check
  check (down_cause in ('unreachable', 'credentials', 'congested', 'registration', 'paused', 'none'));

alter table calls drop constraint calls_wait_reason_check;
alter table calls add constraint calls_wait_reason_check
  check (wait_reason in ('carrier_congestion', 'attempts_per_day', 'not_sent', 'no_engine', 'trunk_down', 'number_in_use',
                         'no_trunk', 'trunk_full')) not valid;

-- Calls that wait for a trunk; a change of a trunk lets them go.
create index calls_without_trunk on calls (organization_id, wait_reason)
  where status = 'queued' and wait_reason in ('trunk_down', 'no_trunk');

-- Every gateway call of a try, for `call explain`. It disappears with its call.
create table call_tries (
  organization_id uuid        not null,
  call_id         uuid        not null,
  attempt         integer     not null,
  position        smallint    not null,
  trunk           text        not null,
  gateway         text        not null,
  started_at      timestamptz not null,
  ended_at        timestamptz not null,
  sip_status      integer,
  reason          text        not null check (char_length(reason) <= 500),
  invited         boolean     not null,
  rang            boolean     not null,
  primary key (organization_id, call_id, attempt, position),
  foreign key (organization_id, call_id) references calls (organization_id, id) on delete cascade
);

-- What the usable trunks take together. Fired by what changes that, never by tokens.
create function sum_up_trunks() returns trigger language plpgsql as $$
declare
  was_down boolean;
  is_down  boolean;
begin
  select down_since is not null into was_down from routes where name = 'env' for update;

  with known as (
    select t.*,
           exists (select from trunk_gateways g where g.trunk = t.name and g.down_since is null) as is_up,
           not exists (select from trunk_gateways g
                        where g.trunk = t.name and g.down_since is null and g.trial_since is null) as is_trial
      from trunks t
  ),
  usable as (
    select case when is_trial then 1 else channels end as channels, calls_per_second, burst, refill_per_second
      from known
     where not paused and is_up
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

create trigger trunks_sum_up after insert or delete
  or update of priority, channels, calls_per_second, countries, organizations, paused, revision on trunks
  for each statement execute function sum_up_trunks();
create trigger trunk_gateways_sum_up after insert or delete or update of down_since, trial_since on trunk_gateways
  for each statement execute function sum_up_trunks();

-- Each node registers for itself, so that the carrier knows the way to each of them.
create table trunk_registrations (
  trunk      text        not null references trunks (name) on delete cascade,
  gateway    text        not null,
  node_id    uuid        not null references nodes (id) on delete cascade,
  state      text        not null check (state in ('registering', 'registered', 'failed')),
  reason     text,
  expires_at timestamptz,
  updated_at timestamptz not null default now(),
  primary key (trunk, gateway, node_id)
);
