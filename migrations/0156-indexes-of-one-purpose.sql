-- An index over every row, whose first column is the organization, was open to any statement about an organization's rows.
-- Where the planner knows nothing of a table, or only what it was when it was small or empty, it takes an organization
-- for one row: then all such indexes cost alike, and a claim read all lanes of an organization again for each of them.
--
-- So an index says that its second column is not null. That holds for every row; but only statements that compare this
-- column can take the index now, and of a primary key's rivals none is left to those that do not.
create index calls_contact_list_new on calls (organization_id, contact_id, status, created_at desc, id desc, agent_id)
  where contact_id is not null;
drop index calls_contact_list;
alter index calls_contact_list_new rename to calls_contact_list;

-- Whoever has no external id conflicts with nobody by it: the same uniqueness.
create unique index contacts_identity_new on contacts (organization_id, source, external_id)
  where external_id is not null;
drop index contacts_identity;
alter index contacts_identity_new rename to contacts_identity;

create unique index contacts_phone_number_new on contacts (organization_id, phone_number) where phone_number is not null;
drop index contacts_phone_number;
alter index contacts_phone_number_new rename to contacts_phone_number;

-- Its second column has few values: a statement that knows more must not take it. The list says this predicate, which
-- holds for every row.
create index contacts_source_list_new on contacts (organization_id, source, created_at desc, id desc)
  where updated_at > '-infinity';
drop index contacts_source_list;
alter index contacts_source_list_new rename to contacts_source_list;

create unique index lanes_source on lanes (organization_id, source_id, kind, time_zones) where source_id is not null;
alter table lanes drop constraint lanes_organization_id_source_id_kind_time_zones_key;

create unique index recordings_call_new on recordings (organization_id, call_id) where call_id is not null;
drop index recordings_call;
alter index recordings_call_new rename to recordings_call;

create index automation_runs_contact_list_new
  on automation_runs (organization_id, contact_id, status, created_at desc, id desc, automation_id)
  where contact_id is not null;
drop index automation_runs_contact_list;
alter index automation_runs_contact_list_new rename to automation_runs_contact_list;

create index batches_young_new on batches (organization_id, created_at) where created_at is not null;
drop index batches_young;
alter index batches_young_new rename to batches_young;
