-- The SIP messages of every attempt of a call, masked, for 30 days: what was said to the trunk and what it replied.
create table sip_traces (
  organization_id uuid not null,
  call_id uuid not null,
  attempt integer not null,
  started_at timestamptz not null default now(),
  -- The first and the last messages, in their order; between them `omitted` ones were not kept.
  first_messages jsonb not null,
  last_messages jsonb not null,
  omitted integer not null,
  primary key (organization_id, call_id, attempt),
  foreign key (organization_id, call_id) references calls (organization_id, id) on delete cascade
);

-- For the retention.
create index sip_traces_age on sip_traces (started_at);
