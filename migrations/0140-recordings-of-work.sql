-- Recordings by batch and by run: repeated from their calls, so that a list of few among millions reads an index of its
-- own. Calls never change their batch or run.
alter table recordings
  add column batch_id          uuid,
  add column automation_run_id uuid;

update recordings r
   set batch_id = c.batch_id, automation_run_id = c.automation_run_id
  from calls c
 where c.organization_id = r.organization_id
   and c.id = r.call_id
   and (c.batch_id is not null or c.automation_run_id is not null);

create index recordings_batch on recordings (organization_id, batch_id, recorded_at desc, id desc)
  where status = 'ready' and batch_id is not null;
create index recordings_automation_run on recordings (organization_id, automation_run_id, recorded_at desc, id desc)
  where status = 'ready' and automation_run_id is not null;
