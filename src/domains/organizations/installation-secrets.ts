import { randomBytes } from 'node:crypto'
import { sql, type Queryable } from '../../database/database.ts'

/** `cursor` authenticates list cursors, `media` signs download URLs, `accounts` signs sessions and encrypts second factors. */
type SecretPurpose = 'cursor' | 'media' | 'accounts'

/** A secret and the name by which signatures refer to it. */
interface InstallationSecret {
  readonly keyId: string
  readonly secret: Buffer
  /** Old enough that every node has loaded it. */
  readonly isSettled: boolean
}

const secretBytes = 32

const insertFirstStatement = sql(
  'installation-secrets.insertFirstSecret',
  `insert into installation_secrets (purpose, key_id, secret)
   select $1, '1', $2
    where not exists (select from installation_secrets where purpose = $1)
   on conflict (purpose, key_id) do nothing`,
)

const listStatement = sql(
  'installation-secrets.listSecrets',
  `select key_id, secret, created_at < now() - interval '10 seconds' as is_settled
     from installation_secrets
    where purpose = $1
    order by key_id::bigint desc`,
)

/**
 * The secrets of a purpose, newest first: the first settled one signs, all verify. The first node that asks creates
 * one.
 */
export const installationSecrets = async (
  db: Queryable,
  purpose: SecretPurpose,
): Promise<[InstallationSecret, ...InstallationSecret[]]> => {
  await db.run(insertFirstStatement, [purpose, randomBytes(secretBytes)])
  const rows = await db.rows<{ key_id: string; secret: Buffer; is_settled: boolean }>(
    listStatement,
    [purpose],
  )
  const [newest, ...older] = rows.map(({ key_id: keyId, secret, is_settled: isSettled }) => ({
    keyId,
    secret,
    isSettled,
  }))
  if (!newest) throw new Error(`There is no secret for ${purpose}.`)
  return [newest, ...older]
}

const rotateStatement = sql(
  'installation-secrets.rotateSecret',
  `insert into installation_secrets (purpose, key_id, secret)
   select $1, coalesce(max(key_id::bigint), 0) + 1, $2
     from installation_secrets
    where purpose = $1
   returning key_id`,
)

/**
 * Creates a new secret that signs once it is settled; returns its key id. Older ones verify until they are retired.
 */
export const rotateInstallationSecret = async (
  db: Queryable,
  purpose: SecretPurpose,
): Promise<string> => {
  const row = await db.row<{ key_id: string }>(rotateStatement, [purpose, randomBytes(secretBytes)])
  if (!row) throw new Error('The rotation answered no row.')
  return row.key_id
}

const retireStatement = sql(
  'installation-secrets.retireSecrets',
  `delete from installation_secrets old
    where old.purpose = $1
      and exists (
            select from installation_secrets newer
             where newer.purpose = old.purpose
               and newer.key_id::bigint > old.key_id::bigint
               and newer.created_at < now() - interval '2 hours')`,
)

/**
 * Deletes secrets that were replaced two hours ago: longer than any download URL lives (3,600 s), and than any node
 * still signs with the old one. Returns how many.
 */
export const retireInstallationSecrets = (db: Queryable, purpose: SecretPurpose): Promise<number> =>
  db.run(retireStatement, [purpose])
