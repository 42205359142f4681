-- Drafts of agents (D18): what an administrator works on. Calls never read them; publishing turns one into a version.

create table agent_drafts (
  organization_id uuid        not null,
  agent_id        uuid        not null,
  -- The agent file as it was typed: it may lack members and have wrong ones.
  file            jsonb       not null,
  -- Counts the times it was saved: a save that is based on an older one is refused.
  revision        integer     not null check (revision > 0),
  -- The version that was published when the draft was begun; 0: none.
  based_on        integer     not null check (based_on >= 0),
  saved_at        timestamptz not null default now(),
  primary key (organization_id, agent_id),
  foreign key (organization_id, agent_id) references agents (organization_id, id)
);

-- The older version whose definition this one repeats, after a roll-back.
alter table agent_versions add column restored_version integer;
