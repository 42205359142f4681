-- A node learns the keys made since it last asked, while an address sends invented ones.
create index api_keys_created on api_keys (created_at);
