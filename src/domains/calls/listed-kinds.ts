import { callStatuses } from '../../contract/states.ts'

/**
 * Every call that lists show, in kinds: each condition is worded as the index that holds its calls in the order of
 * their time (migrations/0150-list-indexes.sql and 0160-own-lists.sql).
 */
export const listedKinds: readonly string[] = [
  ...callStatuses.map(
    (status) => `origin = 'api' and status <> 'pending' and status = '${status}'`,
  ),
  "origin <> 'api' and status <> 'pending'",
]
