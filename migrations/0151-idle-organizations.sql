-- A new organization has no call to claim. It is `ready` once it has one: whoever queues a call wakes it. A hundred
-- thousand that were made at once were gone through by dispatch, 32 at a time, before the first that had work.
alter table dispatch_organizations alter column ready set default false;
