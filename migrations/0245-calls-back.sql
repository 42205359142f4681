-- Calls of people to one of our numbers, each with what was done: kept for some days, like what else is noted of people.

-- What callers of this organization's numbers get, as OUTDIAL_CALLS_BACK is written; null: what that setting says.
alter table organizations
  add column calls_back text check (char_length(calls_back) <= 1100);

create table calls_back (
  id              uuid        primary key,
  -- Null: the number is not ours, or belongs to several organizations.
  organization_id uuid,
  at              timestamptz not null default now(),
  -- SHA-256 of Call-ID, tag of From and CSeq: copies of one INVITE get one answer, whichever node they reach.
  merge_key       text        not null unique,
  trunk           text        not null,
  -- E.164 where it can be read. Null: withheld, or erased.
  phone_number    text        check (char_length(phone_number) <= 64),
  -- The number that was called, as the trunk wrote it where it is not ours.
  called_number   text        not null check (char_length(called_number) <= 64),
  result          text        not null check (result in ('declined', 'message', 'forwarded', 'unknown_number', 'busy',
                                                         'cancelled', 'failed')),
  -- Null: it is not over, or its node died.
  sip_status      smallint,
  -- Of a message: how long the line was open.
  seconds         integer,
  reason          text        check (char_length(reason) <= 300)
);

create index calls_back_newest on calls_back (organization_id, at desc, id desc);
-- For the retention.
create index calls_back_age on calls_back (at);
-- For the erasure of a person.
create index calls_back_caller on calls_back (phone_number, organization_id) where phone_number is not null;
