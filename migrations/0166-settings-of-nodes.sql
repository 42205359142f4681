-- What a running node was started with, as far as commands need it and nothing of it is secret: `doctor` run in another
-- environment says so, instead of describing an installation that nobody runs.
alter table nodes add column settings jsonb not null default '{}';
