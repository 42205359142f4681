import { hash } from 'node:crypto'
import { ApiError } from '../contract/api-error.ts'
import { sql, type Queryable } from '../database/database.ts'

/** Failed sign-ins of one account from one address in a window (D18). */
const maxOfPair = 10
/** Of one account from everywhere, and of one address for every account: against guesses that are spread. */
const maxOfOne = 100
export const attemptWindowMinutes = 10

/** Old windows that one sign-in deletes at most. */
const maxSwept = 20

interface SignInAttempts {
  /** Counts an attempt before it is tried, so that many at once cannot pass. Throws 429, for the right password too. */
  take(email: string, address: string): Promise<void>
  /** The attempt was no failure: gives it back. */
  giveBack(email: string, address: string): Promise<void>
  /** The sign-in succeeded: the pair begins anew. */
  forgive(email: string, address: string): Promise<void>
}

const takeStatement = sql(
  'sign-in-attempts.take',
  `with swept as (
     delete from sign_in_attempts
      where key in (select key
                      from sign_in_attempts
                     where started_at < now() - interval '${attemptWindowMinutes} minutes'
                       and key <> all ($1::bytea[])
                     limit ${maxSwept}
                       for update skip locked)
   )
   insert into sign_in_attempts as a (key, attempts, started_at)
   select wanted.key, 1, now()
     from unnest($1::bytea[]) as wanted (key)
    order by wanted.key
   on conflict (key) do update
      set attempts   = case when a.started_at < now() - interval '${attemptWindowMinutes} minutes'
                            then 1 else a.attempts + 1 end,
          started_at = case when a.started_at < now() - interval '${attemptWindowMinutes} minutes'
                            then now() else a.started_at end
   returning key, attempts,
             extract(epoch from started_at + interval '${attemptWindowMinutes} minutes' - now())::float8 as seconds_left`,
)

const giveBackStatement = sql(
  'sign-in-attempts.giveBack',
  `update sign_in_attempts
      set attempts = greatest(0, attempts - 1)
    where key = any($1::bytea[])`,
)

const forgiveStatement = sql(
  'sign-in-attempts.forgive',
  `update sign_in_attempts
      set attempts = 0
    where key = $1`,
)

interface Count {
  readonly key: Buffer
  readonly attempts: number
  readonly seconds_left: number
}

export const createSignInAttempts = (db: Queryable): SignInAttempts => ({
  async take(email, address) {
    const keys = keysOf(email, address)
    const counts = await db.rows<Count>(takeStatement, [keys.all])
    const over = counts.filter(
      ({ key, attempts }) => attempts > (key.equals(keys.pair) ? maxOfPair : maxOfOne),
    )
    if (over.length === 0) return
    throw new ApiError(
      'rate_limit_exceeded',
      'Too many sign-ins failed. Wait, then try again.',
      undefined,
      { retryAfterSeconds: Math.max(...over.map((each) => each.seconds_left)) },
    )
  },
  async giveBack(email, address) {
    await db.run(giveBackStatement, [keysOf(email, address).all])
  },
  async forgive(email, address) {
    const { all, pair } = keysOf(email, address)
    await db.run(giveBackStatement, [all])
    await db.run(forgiveStatement, [pair])
  },
})

const keysOf = (email: string, address: string) => {
  const keyOf = (...parts: string[]) => hash('sha256', JSON.stringify(parts), 'buffer')
  const account = email.toLowerCase()
  const pair = keyOf('pair', account, address)
  return { pair, all: [pair, keyOf('account', account), keyOf('address', address)] }
}
