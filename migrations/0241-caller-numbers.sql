-- The numbers that callees of an organization see (D16): chosen for each call between claim and gate, under the locks of the
-- trunks, so that choices come one after the other and `calls_per_day` is never exceeded.
--
-- Lock order: trunks, trunk_gateways, routes, dispatch_organizations, lanes, calls, caller_number_days.

create table caller_numbers (
  organization_id   uuid        not null references organizations (id) on delete cascade,
  phone_number      text        not null check (phone_number ~ '^\+[1-9][0-9]{7,14}$'),
  -- ISO 3166 by the numbering plan; null: of no single country.
  country           text,
  -- Calls show it on this trunk only; null: on any.
  trunk             text,
  -- Null: as many as there are.
  calls_per_day     integer     check (calls_per_day > 0),
  -- Resting until then, or until it is resumed ('infinity'); null: in use.
  rests_until       timestamptz,
  rest_reason       text        check (char_length(rest_reason) <= 500),
  -- Rests by itself for a day where carriers or callees refuse it.
  rest_when_flagged boolean     not null default false,
  created_at        timestamptz not null default now(),
  updated_at        timestamptz not null default now(),
  primary key (organization_id, phone_number)
);

-- Calls of a number on a day of its organization's zone. It outlives its number, so that a number that is removed and added
-- again has not more calls.
create table caller_number_days (
  organization_id uuid    not null,
  phone_number    text    not null,
  day             date    not null,
  calls           integer not null,
  primary key (organization_id, phone_number, day)
) with (fillfactor = 20, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000);

-- The number that the callee was shown, and the day on which the call counts for it. Null: no call of a live organization,
-- or not dialled yet; without a day: the number of OUTDIAL_CALLER_ID, which is not counted.
alter table calls add column caller_id text;
alter table calls add column caller_id_day date;

alter table calls drop constraint calls_wait_reason_check;
alter table calls add constraint calls_wait_reason_check
  check (wait_reason in ('carrier_congestion', 'attempts_per_day', 'not_sent', 'no_engine', 'trunk_down', 'number_in_use',
                         'no_trunk', 'trunk_full', 'no_caller_id', 'caller_ids_exhausted', 'caller_ids_resting')) not valid;

-- Calls that wait for a number; a change of a number lets them go.
create index calls_without_caller_id on calls (organization_id, wait_reason)
  where status = 'queued' and wait_reason in ('no_caller_id', 'caller_ids_exhausted', 'caller_ids_resting');
