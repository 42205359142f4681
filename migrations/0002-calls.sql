-- Calls, and how they wait for their turn: organization -> lane -> call. The call row is the queue entry.
--
-- Lock order, everywhere: trunk, dispatch_organizations, lanes, calls. Whoever makes work (a new call, a freed
-- channel) holds FOR KEY SHARE on the organization's dispatch row from before it reads `ready` until it commits;
-- whoever clears `ready` holds FOR UPDATE and looks again in a later statement. So no wake-up is ever lost, and
-- placing calls never waits for placing calls. Claiming takes FOR NO KEY UPDATE, which lets placing go on.

-- One small, hot row per organization.
create table dispatch_organizations (
  organization_id   uuid        primary key references organizations (id),
  -- Whether there may be a call to claim now. False: nothing is due, or all its channels are taken.
  ready             boolean     not null default true,
  -- When work that is known today becomes due; only read while not ready.
  wake_at           timestamptz not null default 'infinity',
  -- Start-time fair queueing: calls served so far, never behind the trunk's own virtual time when served.
  virtual_time      bigint      not null default 0,
  -- The same clock for the sources of work inside this organization.
  lane_virtual_time bigint      not null default 0,
  -- The last claim took all it could: to be looked at again before the claim commits.
  exhausted         boolean     not null default false,
  -- Which claim has locked this row FOR UPDATE; lets a later statement of the same claim know it.
  settling_token    uuid
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000);

create index dispatch_organizations_ready on dispatch_organizations (virtual_time, organization_id) where ready;
create index dispatch_organizations_wake on dispatch_organizations (wake_at) where not ready;

-- One source of work with one opening: pausing a batch or closing a window changes one row, not its calls.
create table lanes (
  organization_id uuid        not null,
  -- UUIDv5 of (organization, kind, source, time zones): whoever needs the lane knows its id.
  id              uuid        not null,
  kind            text        not null check (kind in ('immediate', 'automation', 'batch')),
  -- The batch or the Automation; the organization itself for immediate calls.
  source_id       uuid        not null,
  -- Zones the callees may be in, sorted, comma-separated; '' is the organization's zone.
  time_zones      text        not null,
  -- Lower goes first: immediate 0, automation 1, batch 2.
  rank            smallint    not null check (rank between 0 and 9),
  paused          boolean     not null default false,
  -- The batch's own calling window (time_zone, weekdays, start_time, end_time), if it has one.
  calling_window  jsonb,
  -- Current or next opening, half-open. Null: not computed yet, so closed. 'infinity': none within sight.
  opens_at        timestamptz,
  closes_at       timestamptz,
  -- When the opening must be computed anew: at its closing edge, at once after an edit.
  recompute_at    timestamptz not null default '-infinity',
  -- Calls served of this lane's source (the same in all lanes of one source).
  virtual_time    bigint      not null default 0,
  created_at      timestamptz not null default now(),
  primary key (organization_id, id),
  foreign key (organization_id) references dispatch_organizations (organization_id),
  unique (organization_id, source_id, kind, time_zones)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000);

create index lanes_recompute on lanes (recompute_at);

create table calls (
  organization_id     uuid        not null,
  id                  uuid        not null,
  -- Only 'api' is visible through the API (D3).
  origin              text        not null check (origin in ('api', 'manual', 'dashboard')),
  status              text        not null default 'queued'
                      check (status in ('queued', 'dialing', 'in_progress', 'completed', 'failed', 'cancelled')),
  answer_status       text        check (answer_status in ('answered', 'no_answer', 'busy', 'voicemail', 'unknown')),
  -- Without a foreign key: a person's contact may be erased while the fact of the call remains.
  contact_id          uuid        not null,
  agent_id            uuid        not null,
  agent_version       integer     not null,
  -- As the contact had it when the call was accepted.
  phone_number        text        not null,
  batch_id            uuid,
  automation_run_id   uuid,

  lane_id             uuid        not null,
  not_before          timestamptz not null default now(),
  -- Why not_before lies in the future, for whoever asks.
  wait_reason         text        check (wait_reason in ('carrier_congestion', 'attempts_per_day', 'not_sent')),
  -- Set from claim to terminal state; fences every write. A live row is one that has it.
  lease_token         uuid,
  node_id             uuid,
  claimed_at          timestamptz,
  -- How often it was dialled: above 1 only after carrier congestion or an INVITE that provably never left.
  attempt             integer     not null default 0,
  -- No call stays non-terminal past ring + cap + 60 s (D3).
  deadline_at         timestamptz,
  -- What was decided about this call and why, oldest first, at most 50: {"at", "decision", "reason", "until"?}.
  decisions           jsonb       not null default '[]',

  outcome             text,
  outcome_reason      text        check (char_length(outcome_reason) <= 500),
  summary             text,
  duration_seconds    integer     check (duration_seconds >= 0),
  queued_at           timestamptz not null default now(),
  dialing_at          timestamptz,
  connected_at        timestamptz,
  ended_at            timestamptz,
  cancel_requested_at timestamptz,
  cancelled_at        timestamptz,
  created_at          timestamptz not null default now(),
  updated_at          timestamptz not null default now(),
  primary key (organization_id, id),
  foreign key (organization_id, lane_id) references lanes (organization_id, id),
  foreign key (organization_id, agent_id, agent_version)
    references agent_versions (organization_id, agent_id, version),
  check (status in ('queued', 'dialing', 'in_progress') or (lease_token is null and ended_at is not null)),
  check (status not in ('dialing', 'in_progress') or lease_token is not null)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
        autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);

-- The queue: only what waits, in the order it is claimed. Claimed calls leave it, so it stays as deep as the wait.
create index calls_queue on calls (organization_id, lane_id, not_before, id)
  where status = 'queued' and lease_token is null;
-- Live rows: counted under the organization's lock (capacity) and all together under the trunk's (channels). They are
-- never more than the trunk's channels, so that sweeps by node or deadline read them all: each index more is a write
-- more in every claim.
create index calls_live on calls (organization_id) where lease_token is not null;
create index calls_cancelling on calls (node_id) where lease_token is not null and cancel_requested_at is not null;

create index calls_newest on calls (organization_id, created_at desc, id desc) where origin = 'api';
create index calls_status on calls (organization_id, status, created_at desc, id desc) where origin = 'api';
create index calls_contact on calls (organization_id, contact_id, created_at desc, id desc);
create index calls_agent on calls (organization_id, agent_id, created_at desc, id desc) where origin = 'api';
create index calls_batch on calls (organization_id, batch_id, created_at desc, id desc) where batch_id is not null;
create index calls_automation_run on calls (organization_id, automation_run_id, created_at desc, id desc)
  where automation_run_id is not null;
-- Attempts per number and day.
create index calls_phone_number on calls (organization_id, phone_number, queued_at);

-- Processes that hold leases. One row renewed every two seconds stands for all their calls.
create table nodes (
  id          uuid        primary key,
  name        text        not null,
  started_at  timestamptz not null default now(),
  -- In the database's clock. Past: its calls are anybody's to rescue.
  lease_until timestamptz not null,
  draining    boolean     not null default false,
  -- Set when its calls are being rescued: it can never renew again.
  rescued_at  timestamptz
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000);

-- What the installation's one trunk takes: channels at once, and calls per second by a token bucket.
create table trunk (
  id                smallint         primary key check (id = 1),
  channels          integer          not null check (channels >= 0),
  -- What the trunk allows; no second, wherever it begins, sees more dials than this.
  calls_per_second  double precision not null check (calls_per_second > 0),
  -- The bucket that keeps this promise (src/dispatch/trunk-pacing.ts).
  burst             double precision not null check (burst >= 1),
  refill_per_second double precision not null check (refill_per_second > 0),
  tokens            double precision not null default 1,
  refilled_at       timestamptz      not null default now(),
  -- Start tag of the organization served last: where an organization that was idle joins the queue.
  virtual_time      bigint           not null default 0
) with (fillfactor = 10, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000);

-- Nothing is dialled before a dispatcher has said what the trunk takes.
insert into trunk (id, channels, calls_per_second, burst, refill_per_second) values (1, 0, 1, 1, 1);

-- An organization is never without its dispatch row, whoever makes it.
create function add_dispatch_organization() returns trigger language plpgsql as $$
begin
  insert into dispatch_organizations (organization_id) values (new.id);
  return null;
end $$;

create trigger organizations_dispatch after insert on organizations
  for each row execute function add_dispatch_organization();

insert into dispatch_organizations (organization_id) select id from organizations;

-- An edit of the policy closes that organization's lanes in the same commit, so that not one call is claimed under
-- the hours of before; dispatch computes them anew at its next turn. More concurrency is work too.
create function reopen_dispatch() returns trigger language plpgsql as $$
begin
  update dispatch_organizations set ready = true where organization_id = new.id;
  if new.policy is distinct from old.policy then
    update lanes set opens_at = null, closes_at = null, recompute_at = '-infinity'
     where organization_id = new.id;
  end if;
  return null;
end $$;

create trigger organizations_reopen_dispatch after update of policy, concurrency on organizations
  for each row when (new.policy is distinct from old.policy or new.concurrency is distinct from old.concurrency)
  execute function reopen_dispatch();
