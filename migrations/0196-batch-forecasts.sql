-- What was expected of a batch when it began, so that it can be held against what came. Counts and instants of the whole
-- batch; nothing of a person. Null: no forecast could be made, and none is tried again.
create table batch_forecasts (
  organization_id uuid        not null,
  batch_id        uuid        not null,
  made_at         timestamptz not null default now(),
  forecast        jsonb,
  primary key (organization_id, batch_id),
  foreign key (organization_id, batch_id) references batches (organization_id, id)
);

-- Batches that have begun, of which some may have no forecast yet.
create index batches_begun on batches (updated_at) where status in ('queued', 'in_progress');

-- Of batches that began before there were forecasts none is kept.
insert into batch_forecasts (organization_id, batch_id)
select organization_id, id from batches where status in ('queued', 'in_progress');
