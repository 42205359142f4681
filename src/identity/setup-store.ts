import { hash } from 'node:crypto'
import { sql, type Queryable, type Transaction } from '../database/database.ts'
import { randomBase62 } from '../runtime/ids.ts'
import { hasOwner } from './member-store.ts'

/** Links of so many starts are valid at one time; of further ones the oldest end. */
const maxSecrets = 20
const secretLength = 43

const insertStatement = sql(
  'setup-store.insertSecret',
  `with too_old as (
     delete from setup_secrets
      where hash in (select hash from setup_secrets order by created_at desc offset ${maxSecrets - 1})
   )
   insert into setup_secrets (hash) values ($1)`,
)

const hashSecret = (secret: string): Buffer => hash('sha256', secret, 'buffer')

/** The secret of a setup link, valid until the first owner stands; undefined where there is one. */
export const makeSetupSecret = async (db: Queryable): Promise<string | undefined> => {
  if (await hasOwner(db)) return undefined
  const secret = randomBase62(secretLength)
  await db.run(insertStatement, [hashSecret(secret)])
  return secret
}

const isValidStatement = sql(
  'setup-store.isValidSecret',
  `select from setup_secrets where hash = $1`,
)

export const isSetupSecret = async (db: Queryable, secret: string): Promise<boolean> =>
  (await db.row(isValidStatement, [hashSecret(secret)])) !== undefined && !(await hasOwner(db))

const lockStatement = sql('setup-store.lockSecrets', `lock table setup_secrets in exclusive mode`)
const deleteStatement = sql('setup-store.deleteSecrets', `delete from setup_secrets`)

/** Takes the first owner's place, which one transaction gets; false where there is an owner already. */
export const takeFirstOwner = async (tx: Transaction): Promise<boolean> => {
  await tx.run(lockStatement, [])
  if (await hasOwner(tx)) return false
  await tx.run(deleteStatement, [])
  return true
}
