-- Organizations and what they own before any call is placed. Every key leads with
-- organization_id, so that tables can be sharded by organization. Ids are UUIDv7 made by the program.

create table organizations (
  id                 uuid        primary key,
  name               text        not null,
  -- The Service-Version applied when a request names none. Pinned at creation, never moved by a release.
  default_version    text        not null,
  public_api_enabled boolean     not null,
  -- How many of its calls may be live at once.
  concurrency        integer     not null check (concurrency > 0),
  -- Allowances that differ from the defaults: {"read": 100}. Requests per 60 s.
  rate_limits        jsonb       not null default '{}',
  -- The policy file as validated: time_zone, windows, allowed_countries, attempts_per_number_per_day.
  policy             jsonb       not null,
  is_sandbox         boolean     not null default false,
  created_at         timestamptz not null default now(),
  updated_at         timestamptz not null default now()
);

-- At most one sandbox organization: two nodes starting at once must not make two.
create unique index organizations_sandbox on organizations (is_sandbox) where is_sandbox;

create table api_keys (
  organization_id uuid        not null references organizations (id),
  id              uuid        not null,
  -- SHA-256 of the whole key. The secret itself is stored nowhere.
  hash            bytea       not null,
  prefix          text        not null,
  last_four       text        not null,
  name            text        not null,
  scopes          text[]      not null,
  rate_limits     jsonb       not null default '{}',
  expires_at      timestamptz,
  revoked_at      timestamptz,
  last_used_at    timestamptz,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  primary key (organization_id, id)
) with (fillfactor = 80);

create unique index api_keys_hash on api_keys (hash);
-- Commands name a key by its id alone.
create unique index api_keys_id on api_keys (id);

create table contacts (
  organization_id uuid        not null references organizations (id),
  id              uuid        not null,
  source          text        not null,
  -- Null: no caller manages this contact's identity, so the first one to name its number adopts it.
  external_id     text,
  -- The phone number where nobody said whose it is.
  name            text        not null,
  phone_number    text        not null,
  email           text,
  company         text,
  role            text,
  city            text,
  country         text,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  primary key (organization_id, id)
) with (fillfactor = 90);

create unique index contacts_identity on contacts (organization_id, source, external_id);
create unique index contacts_phone_number on contacts (organization_id, phone_number);
create index contacts_newest on contacts (organization_id, created_at desc, id desc);
create index contacts_external_id on contacts (organization_id, external_id) where external_id is not null;

-- Inserts, or answers no row where the identity or the number is taken. Not "on conflict do nothing": that puts its
-- index entries in before it has checked them, and so can deadlock with a concurrent update that takes the same number.
-- A plain insert checks each index before it enters it, always in the same order.
create function insert_contact_unless_taken(
  organization_id uuid, id uuid, source text, external_id text, name text, phone_number text,
  email text, company text, role text, city text, country text
) returns setof contacts language plpgsql as $$
begin
  return query
    insert into contacts (organization_id, id, source, external_id, name, phone_number, email, company, role, city, country)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
    returning *;
exception when unique_violation then
  return;
end
$$;

create table agents (
  organization_id   uuid        not null references organizations (id),
  id                uuid        not null,
  -- Of the published version, repeated here so that a list reads one table.
  name              text        not null,
  description       text,
  language          text        not null,
  -- Null: never published, hence not eligible.
  published_version integer,
  archived_at       timestamptz,
  created_at        timestamptz not null default now(),
  updated_at        timestamptz not null default now(),
  primary key (organization_id, id)
);

create unique index agents_id on agents (id);
create index agents_eligible on agents (organization_id, created_at desc, id desc)
  where published_version is not null and archived_at is null;

-- What an agent says and does. A row is never changed: calls pin the version they were accepted with.
create table agent_versions (
  organization_id uuid        not null,
  agent_id        uuid        not null,
  version         integer     not null check (version > 0),
  -- The agent file as validated, defaults filled in.
  definition      jsonb       not null,
  created_at      timestamptz not null default now(),
  primary key (organization_id, agent_id, version),
  foreign key (organization_id, agent_id) references agents (organization_id, id)
);

create table dnc_numbers (
  organization_id uuid        not null references organizations (id),
  phone_number    text        not null,
  -- Who put it there: a person who asked on a call, or an operator.
  origin          text        not null check (origin in ('opt_out', 'operator')),
  -- The call on which it was asked, for opt_out.
  call_id         uuid,
  created_at      timestamptz not null default now(),
  primary key (organization_id, phone_number)
);

-- Claim, effect and stored response commit in one transaction (D10). Kept 24 hours, then purged.
-- No reference to organizations: its check would lock a hot row, and wait for others under the claim's lock timeout.
create table idempotency_claims (
  organization_id uuid        not null,
  key             text        not null,
  fingerprint     bytea       not null,
  -- Filled in before the claim commits.
  status          smallint,
  body            text,
  location        text,
  created_at      timestamptz not null default now(),
  primary key (organization_id, key)
) with (fillfactor = 80);

create index idempotency_claims_age on idempotency_claims (created_at);

-- Secrets of the installation: 'cursor' authenticates list cursors, 'media' signs download URLs.
-- The newest of a purpose is used for new signatures; older ones verify until they are retired.
create table installation_secrets (
  purpose    text        not null check (purpose in ('cursor', 'media')),
  key_id     text        not null,
  secret     bytea       not null,
  created_at timestamptz not null default now(),
  primary key (purpose, key_id)
);
