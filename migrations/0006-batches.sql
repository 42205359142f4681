-- Batches: a name, an agent, and recipients, which are rows of calls in lanes of the batch.
--
-- A recipient is `pending` until its batch starts: no call yet, in no index of the queue, and shown to nobody. Starting
-- turns pending rows into queued ones and opens the lanes; pausing closes the lanes and touches no call.
--
-- Lock order: organization, lanes, calls, batches, results. Whoever changes a batch as a whole begins with the
-- organization's dispatch row, so that two of them never meet half-way; whoever ends a call locks its batch last.

create table batches (
  organization_id         uuid        not null references organizations (id),
  id                      uuid        not null,
  -- Only 'api' is listed by the API.
  origin                  text        not null check (origin in ('api', 'cli', 'dashboard')),
  status                  text        not null default 'draft'
                          check (status in ('draft', 'scheduled', 'queued', 'in_progress', 'paused', 'completed',
                                            'failed', 'cancelled')),
  name                    text        not null,
  agent_id                uuid        not null,
  total_recipients        integer     not null check (total_recipients > 0),
  scheduled_start_at      timestamptz,
  -- time_zone, weekdays, start_time, end_time, as the body wrote them.
  calling_window          jsonb,
  started_at              timestamptz,
  paused_at               timestamptz,
  -- When the last recipient of a batch that was not cancelled ended: status completed or failed.
  completed_at            timestamptz,
  cancelled_at            timestamptz,
  -- When every recipient had ended and the counters below were frozen; until then they are counted from the calls.
  settled_at              timestamptz,
  completed_recipients    integer,
  failed_recipients       integer,
  cancelled_recipients    integer,
  answered_recipients     integer,
  no_answer_recipients    integer,
  busy_recipients         integer,
  created_at              timestamptz not null default now(),
  updated_at              timestamptz not null default now(),
  primary key (organization_id, id),
  foreign key (organization_id, agent_id) references agents (organization_id, id),
  check ((settled_at is null) = (completed_recipients is null)),
  check (completed_recipients + failed_recipients + cancelled_recipients = total_recipients),
  check (answered_recipients + no_answer_recipients + busy_recipients <= completed_recipients),
  check (status not in ('completed', 'failed') or settled_at is not null)
) with (fillfactor = 70);

create index batches_newest on batches (organization_id, created_at desc, id desc) where origin = 'api';
create index batches_status on batches (organization_id, status, created_at desc, id desc) where origin = 'api';
-- What the program itself has to look after: instants that come, and calls that fall back into a cancelled batch.
create index batches_scheduled on batches (scheduled_start_at) where status = 'scheduled';
create index batches_unsettled on batches (cancelled_at) where status = 'cancelled' and settled_at is null;

-- Every row obeys the stricter checks of before, so that nothing has to be scanned.
alter table calls
  drop constraint calls_status_check,
  add constraint calls_status_check check (status in ('pending', 'queued', 'dialing', 'in_progress', 'completed',
                                                      'failed', 'cancelled')) not valid,
  drop constraint calls_check,
  add constraint calls_ended_check check (status in ('pending', 'queued', 'dialing', 'in_progress')
                                          or (lease_token is null and ended_at is not null)) not valid,
  add constraint calls_pending_check check (status <> 'pending'
                                            or (batch_id is not null and lease_token is null)) not valid,
  drop constraint calls_origin_check,
  add constraint calls_origin_check check (origin in ('api', 'manual', 'dashboard', 'cli')) not valid;

-- Counters of a batch by one grouped read, and whether anything of it is still open.
create index calls_batch_counts on calls (organization_id, batch_id, status, answer_status) where batch_id is not null;

-- A lane that carries nothing any more, or nothing yet, is never computed: recompute_at is 'infinity', and an edit of the
-- policy leaves it so.
create or replace function reopen_dispatch() returns trigger language plpgsql as $$
begin
  update dispatch_organizations set ready = true where organization_id = new.id;
  if new.policy is distinct from old.policy then
    update lanes set opens_at = null, closes_at = null, recompute_at = '-infinity'
     where organization_id = new.id
       and recompute_at < 'infinity';
  end if;
  return null;
end $$;
