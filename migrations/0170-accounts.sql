-- People who administer (D18). Accounts, their passwords, sessions and second factors are kept by better-auth behind the
-- port Identity (src/identity/); what an account may do in an organization is a row of ours.

create table accounts (
  id                       uuid        primary key,
  name                     text        not null,
  -- In lower case.
  email                    text        not null unique,
  email_verified           boolean     not null default false,
  image                    text,
  two_factor_enabled       boolean     not null default false,
  -- The installation's first owner: trunks, providers, health.
  administers_installation boolean     not null default false,
  last_seen_at             timestamptz,
  created_at               timestamptz not null default now(),
  updated_at               timestamptz not null default now()
);

-- How an account proves itself: provider_id 'credential' is a password, of which the scrypt hash is kept.
create table account_credentials (
  id                       uuid        primary key,
  account_id               text        not null,
  provider_id              text        not null,
  user_id                  uuid        not null references accounts (id) on delete cascade,
  access_token             text,
  refresh_token            text,
  id_token                 text,
  access_token_expires_at  timestamptz,
  refresh_token_expires_at timestamptz,
  scope                    text,
  password                 text,
  created_at               timestamptz not null default now(),
  updated_at               timestamptz not null default now(),
  unique (provider_id, account_id)
);

create index account_credentials_user on account_credentials (user_id);

create table account_sessions (
  id              uuid        primary key,
  -- SHA-256 of the token, in hex. The token itself is in the browser's cookie only.
  token           text        not null unique,
  user_id         uuid        not null references accounts (id) on delete cascade,
  -- Which of the account's organizations the session looks at.
  organization_id uuid        references organizations (id),
  ip_address      text,
  user_agent      text,
  -- The end at most; it ends earlier when it is idle.
  expires_at      timestamptz not null,
  last_seen_at    timestamptz not null default now(),
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now()
) with (fillfactor = 80);

create index account_sessions_user on account_sessions (user_id);
create index account_sessions_expires on account_sessions (expires_at);

-- Challenges that are answered within minutes.
create table account_verifications (
  id         uuid        primary key,
  identifier text        not null,
  value      text        not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index account_verifications_identifier on account_verifications (identifier);
create index account_verifications_expires on account_verifications (expires_at);

-- TOTP secret and recovery codes, encrypted by the program.
create table account_second_factors (
  id                        uuid        primary key,
  secret                    text        not null,
  backup_codes              text        not null,
  user_id                   uuid        not null unique references accounts (id) on delete cascade,
  verified                  boolean     not null default true,
  failed_verification_count integer     not null default 0,
  locked_until              timestamptz
);

create table members (
  organization_id uuid        not null references organizations (id),
  account_id      uuid        not null references accounts (id) on delete cascade,
  role            text        not null check (role in ('owner', 'admin', 'operator', 'viewer')),
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  primary key (organization_id, account_id)
);

create index members_account on members (account_id);

create table invitations (
  organization_id uuid        not null references organizations (id),
  id              uuid        not null,
  -- In lower case.
  email           text        not null,
  role            text        not null check (role in ('owner', 'admin', 'operator', 'viewer')),
  -- SHA-256 of the link's secret, which is told once.
  secret_hash     bytea       not null,
  invited_by      uuid        references accounts (id) on delete set null,
  created_at      timestamptz not null default now(),
  expires_at      timestamptz not null,
  accepted_at     timestamptz,
  revoked_at      timestamptz,
  primary key (organization_id, id)
);

create unique index invitations_secret on invitations (secret_hash);

-- Failed sign-ins in windows of ten minutes; the key is a hash of account, address, or both.
create table sign_in_attempts (
  key        bytea       primary key,
  attempts   integer     not null,
  started_at timestamptz not null
) with (fillfactor = 80);

create index sign_in_attempts_started on sign_in_attempts (started_at);

-- Secrets of setup links that were printed; all go when the first owner stands.
create table setup_secrets (
  hash       bytea       primary key,
  created_at timestamptz not null default now()
);

-- 'accounts' signs sessions and encrypts second factors.
alter table installation_secrets drop constraint installation_secrets_purpose_check;
alter table installation_secrets add constraint installation_secrets_purpose_check
  check (purpose in ('cursor', 'media', 'accounts')) not valid;
