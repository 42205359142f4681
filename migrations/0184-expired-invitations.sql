-- Housekeeping deletes invitations whose time is over, oldest first.
create index invitations_expires on invitations (expires_at);
