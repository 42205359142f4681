-- A claim looks at a bounded number of lanes. Where an organization has more that hold calls, this is the last lane that was
-- looked at, and the next claim goes on behind it. The lowest id: from the beginning.
alter table dispatch_organizations
  add column lane_cursor uuid not null default '00000000-0000-0000-0000-000000000000';
