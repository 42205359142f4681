-- Calls and batches that were not made through the API are listed by the command line, newest first. The indexes of
-- 0150-list-indexes.sql hold the API's; these hold the others, so that a call stands in one of the two.
create index calls_own_list on calls (organization_id, created_at desc, id desc)
  where origin <> 'api' and status <> 'pending';
create index batches_own_list on batches (organization_id, created_at desc, id desc)
  where origin <> 'api';
