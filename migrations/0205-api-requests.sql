-- Requests of the API's keys with their responses, refused ones and replays too: for whoever writes an integration. What
-- is of people is masked before it is stored (src/domains/requests/redact.ts); rows are kept for some days.

create table api_requests (
  organization_id uuid        not null,
  id              uuid        not null,
  at              timestamptz not null,
  request_id      text        not null,
  api_key_id      uuid        not null,
  method          text        not null,
  -- Null: the path led to no operation.
  operation       text,
  -- With its ids, and its query; what is neither an id nor a known word is masked.
  path            text        not null,
  status          smallint    not null,
  -- Milliseconds from the head to the response.
  duration_ms     integer     not null,
  -- Null: the request had no Idempotency-Key.
  idempotency     text        check (idempotency in ('new', 'replayed', 'refused')),
  error_code      text,
  -- The first ten of [{"path", "code"}].
  error_fields    json,
  -- Of the resource that the path names, or that the request made.
  target_type     text,
  target_id       uuid,
  -- Whether the request made its target.
  made            boolean     not null,
  request_body    json,
  response_body   json,
  primary key (organization_id, id)
);

create index api_requests_newest on api_requests (organization_id, at desc, id desc);
-- The same for what was refused, which is little of much.
create index api_requests_refused on api_requests (organization_id, at desc, id desc) where status >= 400;
-- From a call to the request that made it, and for the erasure of a person.
create index api_requests_target on api_requests (organization_id, target_id) where target_id is not null;
