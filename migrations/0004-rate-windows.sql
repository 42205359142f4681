-- Rate-limit windows that several nodes share. One row per key of a bucket, used again in every window, so the table
-- stays as small as the number of keys. Unlogged: after a crash counting starts anew, which harms nobody.
create unlogged table rate_windows (
  key     text        primary key,
  ends_at timestamptz not null,
  -- Requests handed out to nodes in this window, used or not.
  taken   integer     not null
) with (fillfactor = 50);
