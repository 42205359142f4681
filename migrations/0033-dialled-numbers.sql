-- Attempts per number and day are counted by when they were dialled: an index of just that, which a call enters only when
-- it is dialled, makes queueing and claiming a call cheaper and the count exact.
drop index calls_phone_number;
create index calls_dialled_number on calls (organization_id, phone_number, dialing_at) where dialing_at is not null;
