-- Who works on background jobs, and when it was last seen. The job library frees the jobs of a killed process only after
-- four hours; with this it takes seconds. A row is a process's worker, a handful per node.

create table job_workers (
  worker_id text        primary key,
  seen_at   timestamptz not null default now()
);
