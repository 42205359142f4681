-- How calls of a number ended, so that a number that carriers or callees refuse is told of, and may rest by itself.

create table caller_number_results (
  organization_id uuid     not null,
  phone_number    text     not null,
  -- On which the call counts for its number.
  day             date     not null,
  -- Calls that end at once write different rows, so that they do not wait for each other.
  slot            smallint not null,
  -- Dialled ones that ended.
  calls           integer  not null,
  answered        integer  not null,
  -- SIP 603.
  declined        integer  not null,
  -- SIP 607 and 608.
  rejected        integer  not null,
  primary key (organization_id, phone_number, day, slot)
) with (fillfactor = 50);

alter table caller_numbers
  -- Why it looks spoiled, and since when; null: it does not.
  add column flag_reason text check (char_length(flag_reason) <= 500),
  add column flagged_at  timestamptz,
  -- Results of earlier days no longer count against it: it has rested, or an administrator resumed it.
  add column judged_from date;
