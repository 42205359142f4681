/**
 * Whether a run that is given by its id is over. The wording matches the predicate of no index, so that the run is
 * found by its id, and not among all active runs of its organization. `status` is the column.
 */
export const activeFragment = (status: string): string => oneOfFragment(status, runStatuses)

/** The same for other statuses: an SQL array. */
export const oneOfFragment = (status: string, statuses: string): string =>
  `'' || ${status} = any(${statuses})`

const runStatuses = "'{queued,running,waiting}'::text[]"
