-- Files of contacts while an operator looks through them in the dashboard: uploaded in parts, checked, mended, then
-- imported or forgotten. Nothing of them outlasts a day.

create table contact_imports (
  organization_id uuid        not null references organizations (id),
  id              uuid        not null,
  account_id      uuid        not null references accounts (id) on delete cascade,
  file_name       text        not null,
  status          text        not null default 'uploading' check (status in ('uploading', 'read', 'checked')),
  parts           int         not null default 0,
  size_bytes      int         not null default 0,
  -- What of the last part is no whole record yet.
  rest            text        not null default '',
  delimiter       text,
  next_row        int         not null default 1,
  heading         text[],
  row_count       int         not null default 0,
  -- The contact's field of each column of the file; null for a column that is left out.
  mapping         text[],
  -- How numbers without + are read.
  country         text,
  -- What is made of it: contacts, or a batch, for which the organization's policy counts as well.
  purpose         text        check (purpose in ('contacts', 'batch')),
  created_at      timestamptz not null default now(),
  primary key (organization_id, id)
);

create unique index contact_imports_account on contact_imports (organization_id, account_id);
create index contact_imports_age on contact_imports (created_at);

create table contact_import_rows (
  organization_id uuid   not null,
  import_id       uuid   not null,
  -- As a spreadsheet counts: the heading is row 1.
  row             int    not null,
  cells           text[] not null,
  verdict         text   check (verdict in ('new', 'updated', 'duplicate', 'invalid')),
  problems        jsonb,
  primary key (organization_id, import_id, row),
  foreign key (organization_id, import_id) references contact_imports (organization_id, id) on delete cascade
);

create index contact_import_rows_refused on contact_import_rows (organization_id, import_id, row)
  where verdict in ('duplicate', 'invalid');
