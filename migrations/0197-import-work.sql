-- The work on a large file of contacts, which outlasts a request: how far it is, and what came of it. Kept for a day.
create table contact_import_work (
  organization_id uuid        not null references organizations (id),
  import_id       uuid        not null,
  kind            text        not null check (kind in ('check', 'commit', 'draft')),
  status          text        not null default 'running' check (status in ('running', 'done', 'failed')),
  done            int         not null default 0,
  total           int         not null,
  -- Counts, or ids of batches; of a failure its code and sentence.
  result          jsonb,
  -- While it runs no older than some seconds: a process that died leaves an older one.
  updated_at      timestamptz not null default now(),
  primary key (organization_id, import_id)
);

create index contact_import_work_age on contact_import_work (updated_at);
