-- What was changed by whom (D18). Rows are written in the transaction of the change, and never change.

create table audit_entries (
  organization_id uuid        not null,
  id              uuid        not null,
  at              timestamptz not null default now(),
  actor_kind      text        not null check (actor_kind in ('account', 'key', 'command_line')),
  -- The account's or the key's id; null for the command line.
  actor_id        uuid,
  -- The account's e-mail address, the key's prefix, or the user of the command line's machine, as they were then.
  actor_name      text        not null,
  -- The client's address; null for the command line.
  address         text,
  action          text        not null,
  target_type     text        not null,
  target_id       text,
  before          jsonb,
  after           jsonb,
  primary key (organization_id, id)
);

create index audit_entries_newest on audit_entries (organization_id, at desc, id desc);

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'audit_entries is append-only' using errcode = 'insufficient_privilege';
end
$$;

create trigger audit_entries_append_only
  before update or delete on audit_entries
  for each row execute function refuse_audit_change();
