import type { OrganizationId } from '../contract/organization-id.ts'
import type { Role } from '../contract/roles.ts'
import { sql, type Queryable } from '../database/database.ts'
import { authTables } from './auth-adapter.ts'

interface AccountRow {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly two_factor_enabled: boolean
  readonly administers_installation: boolean
}

const columns = 'id, name, email, two_factor_enabled, administers_installation'

const findStatement = sql(
  'account-store.findAccountByEmail',
  `select ${columns}
     from ${authTables.user}
    where email = lower($1)`,
)

export const findAccountByEmail = (db: Queryable, email: string): Promise<AccountRow | undefined> =>
  db.row<AccountRow>(findStatement, [email])

const administerStatement = sql(
  'account-store.administerInstallation',
  `update ${authTables.user}
      set administers_installation = true
    where id = $1
      and not exists (select from ${authTables.user} where administers_installation)`,
)

/** Makes the account the one that administers the installation, unless there is one. */
export const administerInstallation = async (db: Queryable, accountId: string): Promise<void> => {
  await db.run(administerStatement, [accountId])
}

interface ListedAccount {
  readonly email: string
  readonly name: string
  readonly last_seen_at: Date | null
  readonly memberships: readonly { readonly organization_id: OrganizationId; readonly role: Role }[]
}

const listStatement = sql(
  'account-store.listAccounts',
  `select a.email, a.name, a.last_seen_at,
          coalesce(jsonb_agg(jsonb_build_object('organization_id', m.organization_id, 'role', m.role)
                             order by m.created_at, m.organization_id)
                   filter (where m.account_id is not null), '[]') as memberships
     from ${authTables.user} a
     left join members m on m.account_id = a.id
    group by a.id
    order by a.created_at, a.id`,
)

/** Every account, oldest first: for operators. */
export const listAccounts = (db: Queryable): Promise<ListedAccount[]> =>
  db.rows<ListedAccount>(listStatement, [])
