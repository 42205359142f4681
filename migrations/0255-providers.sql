-- Providers of speech and words (D20), which agents name in the order of failover. Those of the environment are named
-- 'env' and have no row. Without an organization a provider serves all of them; one of an organization has precedence.
create table providers (
  id              uuid        primary key,
  organization_id uuid        references organizations (id) on delete cascade,
  name            text        not null check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$' and name <> 'env'),
  kind            text        not null check (char_length(kind) <= 40),
  url             text        check (char_length(url) <= 2048),
  model           text        check (char_length(model) <= 200),
  voice           text        check (char_length(voice) <= 200),
  -- AES-256-GCM by the installation's key.
  key             bytea,
  created_at      timestamptz not null default now(),
  unique nulls not distinct (organization_id, name)
);
