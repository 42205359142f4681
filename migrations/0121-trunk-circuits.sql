-- A trunk that cannot be used is the installation's trouble, not its calls': they wait while its circuit is open. The
-- circuit stands here, so that all nodes see it.
alter table routes
  add column down_since   timestamptz,
  -- One sentence, for people.
  add column down_reason  text,
  -- 'unreachable': an answer to OPTIONS closes the circuit. 'credentials': only a call can show that they are taken.
  add column down_cause   text check (down_cause in ('unreachable', 'credentials')),
  -- When some node asks with OPTIONS again, and when calls are let through to try.
  add column ping_at      timestamptz,
  add column retry_at     timestamptz,
  -- Openings one soon after the other; each doubles the time until calls are let through.
  add column openings     integer not null default 0,
  -- Its pace rises from here on instead of beginning with a volley.
  add column recovered_at timestamptz;
