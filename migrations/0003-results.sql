-- What is left of a call: its turns as they were spoken, its results as clients see them, its recording.

-- Written while the call is live, one row per final turn. Raw text: what clients read is a revision.
create table transcript_turns (
  organization_id uuid        not null,
  call_id         uuid        not null,
  sequence        integer     not null check (sequence >= 0),
  id              uuid        not null,
  speaker         text        not null check (speaker in ('agent', 'contact', 'third_party')),
  text            text        not null,
  audio_offset_ms integer     not null check (audio_offset_ms >= 0),
  created_at      timestamptz not null default now(),
  primary key (organization_id, call_id, sequence),
  foreign key (organization_id, call_id) references calls (organization_id, id)
);

-- One row per call and kind once the call has ended. Before that there is none, and the result is
-- `processing` because of `call_not_ended`.
create table results (
  organization_id uuid        not null,
  call_id         uuid        not null,
  kind            text        not null check (kind in ('summary', 'transcript')),
  status          text        not null check (status in ('processing', 'ready', 'unavailable', 'exhausted')),
  reason          text,
  -- 0: no content yet. Rises only when the sanitized bytes differ.
  revision        integer     not null default 0 check (revision >= 0),
  content_hash    bytea,
  generated_at    timestamptz,
  -- How often producing the content was tried.
  attempts        integer     not null default 0,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  primary key (organization_id, call_id, kind),
  foreign key (organization_id, call_id) references calls (organization_id, id),
  check ((status = 'ready') = (reason is null)),
  check (status <> 'ready' or (revision > 0 and generated_at is not null and content_hash is not null))
) with (fillfactor = 80);

-- The content of each revision, never changed. A superseded one stays readable for 24 hours.
create table result_revisions (
  organization_id uuid        not null,
  call_id         uuid        not null,
  kind            text        not null,
  revision        integer     not null check (revision > 0),
  -- A summary: {"summary": "…"}. A transcript: {"turns": […]}, sanitized, in sequence.
  content         jsonb       not null,
  content_hash    bytea       not null,
  generated_at    timestamptz not null,
  superseded_at   timestamptz,
  primary key (organization_id, call_id, kind, revision),
  foreign key (organization_id, call_id, kind) references results (organization_id, call_id, kind)
);

create index result_revisions_superseded on result_revisions (superseded_at) where superseded_at is not null;

create table recordings (
  organization_id  uuid        not null,
  -- UUIDv5 of the source row: the same recording always has the same id.
  id               uuid        not null,
  -- The source row. Shown to clients only for calls made through the API.
  call_id          uuid        not null,
  is_api_call      boolean     not null,
  contact_id       uuid,
  recorded_at      timestamptz not null,
  -- `encoding` until the MP3 is stored; only `ready` ones are listed.
  status           text        not null check (status in ('encoding', 'ready', 'failed')),
  storage_key      text,
  duration_seconds integer     check (duration_seconds >= 0),
  size_bytes       bigint      check (size_bytes >= 0),
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now(),
  primary key (organization_id, id),
  foreign key (organization_id, call_id) references calls (organization_id, id),
  -- A contact may be erased; null when none is linked.
  foreign key (organization_id, contact_id) references contacts (organization_id, id) on delete set null (contact_id),
  check (status <> 'ready' or (storage_key is not null and size_bytes is not null))
);

-- The media origin finds a recording by its id alone; the signed URL is the permission.
create unique index recordings_id on recordings (id);
create unique index recordings_call on recordings (organization_id, call_id);
create index recordings_newest on recordings (organization_id, recorded_at desc, id desc) where status = 'ready';
create index recordings_contact on recordings (organization_id, contact_id, recorded_at desc, id desc)
  where status = 'ready';
