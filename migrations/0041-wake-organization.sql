-- Wake-up protocol: whoever makes a call claimable takes the organization's row FOR KEY SHARE, kept until commit, and sets
-- `ready` where it is not. Dispatch clears `ready` only under FOR UPDATE, which waits for nobody, and looks again
-- afterwards; so either it sees what is committed, or it is waited for here. Key-share locks do not wait for each other.
--
-- Two statements, the second with a snapshot of its own: what a locking statement returns may be older than the lock. When
-- another's key-share lock was held while dispatch began, and gone when it cleared `ready`, PostgreSQL waits for dispatch,
-- finds that nothing forbids the lock, and returns the row as the statement first saw it.
create function wake_organization(organization uuid) returns boolean language plpgsql as $$
begin
  perform from dispatch_organizations where organization_id = organization for key share;
  if not found then return false; end if;
  update dispatch_organizations set ready = true where organization_id = organization and not ready;
  return true;
end $$;
