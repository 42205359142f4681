-- Every list of the API, with every combination of its filters, reads one index in the order of its pages: the columns that
-- are compared for equality first, then the page's order. The state comes last of the first: a list of all states merges
-- the few of them (src/database/newest-first.ts), so that one index serves it with the state and without it. A call is in
-- three such indexes and not in four as before, for each of them is written again whenever a call changes.
--
-- The planner has no choice among them, for without statistics, and for all values alike, it chooses badly (26 s for a page
-- of 4 million calls): each list says the predicate of the index it means, and of no other. Some of these predicates hold
-- for every row, or say the same in other words, just for that.

-- Drafts are no calls yet: they stand in none of the lists.
create index calls_list on calls (organization_id, status, created_at desc, id desc)
  where origin = 'api' and status <> 'pending';
create index calls_agent_list on calls (organization_id, agent_id, status, created_at desc, id desc)
  where origin || '' = 'api' and status <> 'pending';
-- Erasing a person looks for calls of any origin. The agent at the end is compared within the index: of a contact with
-- many calls, those of another agent are not fetched.
create index calls_contact_list on calls (organization_id, contact_id, status, created_at desc, id desc, agent_id);
drop index calls_newest;
drop index calls_status;
drop index calls_agent;
drop index calls_contact;
-- A batch has a thousand calls at most: they are found by the index of its counters.
drop index calls_batch;

create index automation_runs_list on automation_runs (organization_id, status, created_at desc, id desc)
  where id <> '00000000-0000-0000-0000-000000000000';
create index automation_runs_automation_list
  on automation_runs (organization_id, automation_id, status, created_at desc, id desc)
  where queued_at > '-infinity';
create index automation_runs_contact_list
  on automation_runs (organization_id, contact_id, status, created_at desc, id desc, automation_id);
drop index automation_runs_newest;
drop index automation_runs_status;
drop index automation_runs_automation;
drop index automation_runs_contact;

create index contacts_list on contacts (organization_id, created_at desc, id desc)
  where id <> '00000000-0000-0000-0000-000000000000';
create index contacts_source_list on contacts (organization_id, source, created_at desc, id desc);
create index contacts_external_id_list on contacts (organization_id, external_id, created_at desc, id desc)
  where external_id is not null;
drop index contacts_newest;
drop index contacts_external_id;

create index recordings_contact_list on recordings (organization_id, contact_id, recorded_at desc, id desc)
  where status || '' = 'ready';
drop index recordings_contact;
