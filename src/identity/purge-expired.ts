import { sql, type Queryable } from '../database/database.ts'
import { authTables } from './auth-adapter.ts'
import { attemptWindowMinutes } from './sign-in-attempts.ts'

/** Up to `$1` rows of a table that are older than an instant, oldest first, each by its index. */
const purge = (table: string, keys: string, column: string, before: string) =>
  sql(
    `purge-expired.${table}`,
    `delete from ${table}
      where (${keys}) in (select ${keys}
                         from ${table}
                        where ${column} <= ${before}
                        order by ${column}
                        limit $1
                          for update skip locked)`,
  )

const statements = [
  // A session that was only idle is of no use either, and goes at its end: after seven days at most.
  purge(authTables.session, 'id', 'expires_at', 'now()'),
  purge(authTables.verification, 'id', 'expires_at', 'now()'),
  // Accepted and revoked ones as well: the audit log keeps what became of them.
  purge('invitations', 'organization_id, id', 'expires_at', 'now()'),
  purge(
    'sign_in_attempts',
    'key',
    'started_at',
    `now() - interval '${attemptWindowMinutes} minutes'`,
  ),
]

/** Deletes up to `limit` rows of each kind whose time is over; resolves with the count of the kind that had most. */
export const purgeExpiredIdentity = async (db: Queryable, limit: number): Promise<number> => {
  let most = 0
  for (const statement of statements) most = Math.max(most, await db.run(statement, [limit]))
  return most
}
