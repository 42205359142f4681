-- Automations, and their runs: one contact each on its way through a definition that never changes under it (D6).
--
-- Lock order, everywhere: automations, dispatch_organizations, lanes, calls, automation_runs. Whoever ends a call holds
-- it when it wakes the run; so nobody who holds a run may ask for a call.

create table automations (
  organization_id   uuid        not null references organizations (id),
  id                uuid        not null,
  -- Of the published version, repeated here so that a list reads one table.
  name              text        not null,
  description       text,
  status            text        not null check (status in ('draft', 'active', 'paused', 'archived')),
  -- What new runs pin.
  published_version integer     not null,
  created_at        timestamptz not null default now(),
  updated_at        timestamptz not null default now(),
  primary key (organization_id, id)
);

-- Commands name an Automation by its id alone.
create unique index automations_id on automations (id);
create index automations_newest on automations (organization_id, created_at desc, id desc);
create index automations_status on automations (organization_id, status, created_at desc, id desc);

-- A row is never changed: runs pin the version they were accepted with.
create table automation_versions (
  organization_id uuid        not null,
  automation_id   uuid        not null,
  version         integer     not null check (version > 0),
  definition      jsonb       not null,
  created_at      timestamptz not null default now(),
  primary key (organization_id, automation_id, version),
  foreign key (organization_id, automation_id) references automations (organization_id, id)
);

create table automation_runs (
  organization_id     uuid        not null,
  id                  uuid        not null,
  -- Who started it; its calls have the same origin, so that only those of API runs are seen in GET /calls.
  origin              text        not null check (origin in ('api', 'manual', 'dashboard', 'cli')),
  automation_id       uuid        not null,
  automation_version  integer     not null,
  -- Without a foreign key: a person's contact may be erased while the fact of the run remains.
  contact_id          uuid        not null,
  status              text        not null default 'queued'
                      check (status in ('queued', 'running', 'waiting', 'completed', 'failed', 'cancelled')),

  -- Where it stands. What is being done there: nothing yet, its call, a wait, a delay before the next attempt.
  step                text,
  phase               text        not null default 'enter' check (phase in ('enter', 'call', 'wait', 'retry')),
  -- Attempts of this visit of the step, and steps visited in all.
  attempt             integer     not null default 0,
  steps_executed      integer     not null default 0,
  -- The call of this attempt.
  call_id             uuid,
  -- What branches look at: of the last call that ended.
  last_outcome        text,
  last_answer_status  text,
  -- The end of a wait or a delay that has begun.
  due_at              timestamptz,

  -- When the runner looks at it next; null: not before something wakes it. While a runner has it, the end of its lease.
  wake_at             timestamptz,
  wait_reason         text        check (wait_reason in ('wait_step', 'retry_delay', 'calling_hours', 'paused')),
  -- Committed moves so far: the key of the next one.
  sequence            integer     not null default 0,
  -- Counts wake-ups, so that a runner that has not seen one does not sleep over it.
  wake_count          integer     not null default 0,
  -- Faults in a row at this place.
  faults              integer     not null default 0,

  failure_code        text,
  cancel_requested_at timestamptz,
  queued_at           timestamptz not null default now(),
  started_at          timestamptz,
  completed_at        timestamptz,
  cancelled_at        timestamptz,
  created_at          timestamptz not null default now(),
  updated_at          timestamptz not null default now(),
  primary key (organization_id, id),
  foreign key (organization_id, automation_id, automation_version)
    references automation_versions (organization_id, automation_id, version),
  check ((status = 'failed') = (failure_code is not null)),
  check (status in ('queued', 'running', 'waiting') or wake_at is null)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
        autovacuum_analyze_scale_factor = 0.02);

-- A contact is on its way through an Automation at most once (D6).
create unique index automation_runs_active on automation_runs (organization_id, automation_id, contact_id)
  where status in ('queued', 'running', 'waiting');
-- The runner's queue: only what has a time to wake.
create index automation_runs_due on automation_runs (wake_at) where wake_at is not null;
-- What an edit of the policy, and the end of a pause, wakes.
create index automation_runs_hours on automation_runs (organization_id) where wait_reason = 'calling_hours';
create index automation_runs_paused on automation_runs (organization_id, automation_id) where wait_reason = 'paused';

create index automation_runs_newest on automation_runs (organization_id, created_at desc, id desc);
create index automation_runs_status on automation_runs (organization_id, status, created_at desc, id desc);
create index automation_runs_automation on automation_runs (organization_id, automation_id, created_at desc, id desc);
create index automation_runs_contact on automation_runs (organization_id, contact_id, created_at desc, id desc);

-- What the run did, one row for each move, written with it.
create table automation_run_moves (
  organization_id uuid        not null,
  run_id          uuid        not null,
  sequence        integer     not null check (sequence >= 0),
  step            text,
  move            text        not null,
  attempt         integer,
  call_id         uuid,
  -- One sentence: why.
  reason          text        not null,
  until           timestamptz,
  at              timestamptz not null default now(),
  primary key (organization_id, run_id, sequence),
  foreign key (organization_id, run_id) references automation_runs (organization_id, id)
);

-- An edit of the policy may open hours that runs wait for: they look again.
create function wake_runs_of_policy() returns trigger language plpgsql as $$
begin
  update automation_runs set wake_at = now(), wake_count = wake_count + 1
   where organization_id = new.id and wait_reason = 'calling_hours';
  return null;
end $$;

create trigger organizations_wake_runs after update of policy on organizations
  for each row when (new.policy is distinct from old.policy)
  execute function wake_runs_of_policy();
