-- What an organization may keep, where the operator set something else than the default: {"contacts": 5000000}.
alter table organizations add column quotas jsonb not null default '{}';

-- Batches that have not ended, and young ones, are counted from these.
create index batches_open on batches (organization_id) include (total_recipients)
  where status in ('draft', 'scheduled', 'queued', 'in_progress', 'paused');
create index batches_young on batches (organization_id, created_at);
