-- Whether an organization's calls are recorded: with 'never' no agent of it records. A call that was answered without
-- a recorder says so, because a lost recording must look different.
alter table organizations
  add column recording text not null default 'always' check (recording in ('always', 'never'));

alter table calls
  add column unrecorded boolean not null default false;
