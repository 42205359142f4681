import type { OrganizationId } from '../contract/organization-id.ts'
import type { Role } from '../contract/roles.ts'
import { sql, type Queryable, type Transaction } from '../database/database.ts'
import { authTables } from './auth-adapter.ts'

export interface MemberRow {
  readonly account_id: string
  readonly name: string
  readonly email: string
  readonly role: Role
  readonly two_factor_enabled: boolean
  readonly last_seen_at: Date | null
  readonly created_at: Date
}

const columns = `m.account_id, a.name, a.email, m.role, a.two_factor_enabled, a.last_seen_at, m.created_at`

const listStatement = sql(
  'member-store.listMembers',
  `select ${columns}
     from members m
     join ${authTables.user} a on a.id = m.account_id
    where m.organization_id = $1
    order by m.created_at, m.account_id`,
)

/** All members of an organization, the oldest first: people, each invited by hand. */
export const listMembers = (db: Queryable, organizationId: OrganizationId): Promise<MemberRow[]> =>
  db.rows<MemberRow>(listStatement, [organizationId])

const lockStatement = sql(
  'member-store.lockMembers',
  `select ${columns}
     from members m
     join ${authTables.user} a on a.id = m.account_id
    where m.organization_id = $1
    order by m.account_id
      for update of m`,
)

/** The members, who change for nobody else until the transaction ends. */
export const lockMembers = (
  tx: Transaction,
  organizationId: OrganizationId,
): Promise<MemberRow[]> => tx.rows<MemberRow>(lockStatement, [organizationId])

const addStatement = sql(
  'member-store.addMember',
  `insert into members (organization_id, account_id, role)
   values ($1, $2, $3)
   on conflict (organization_id, account_id) do nothing`,
)

/** Returns whether the account was no member before. */
export const addMember = async (
  db: Queryable,
  organizationId: OrganizationId,
  accountId: string,
  role: Role,
): Promise<boolean> => (await db.run(addStatement, [organizationId, accountId, role])) > 0

const setRoleStatement = sql(
  'member-store.setRole',
  `update members
      set role = $3, updated_at = now()
    where organization_id = $1
      and account_id = $2`,
)

export const setRole = async (
  db: Queryable,
  organizationId: OrganizationId,
  accountId: string,
  role: Role,
): Promise<void> => {
  await db.run(setRoleStatement, [organizationId, accountId, role])
}

const removeStatement = sql(
  'member-store.removeMember',
  `delete from members
    where organization_id = $1
      and account_id = $2`,
)

export const removeMember = async (
  db: Queryable,
  organizationId: OrganizationId,
  accountId: string,
): Promise<void> => {
  await db.run(removeStatement, [organizationId, accountId])
}

const ofAccountStatement = sql(
  'member-store.listMemberships',
  `select m.organization_id, o.name, o.mode, o.policy ->> 'time_zone' as time_zone, m.role
     from members m
     join organizations o on o.id = m.organization_id
    where m.account_id = $1
    order by m.created_at, m.organization_id`,
)

interface Membership {
  readonly organization_id: OrganizationId
  readonly name: string
  readonly mode: 'sandbox' | 'live' | null
  /** Of its calling policy: instants are shown in it. */
  readonly time_zone: string
  readonly role: Role
}

/** The organizations that an account belongs to. */
export const listMemberships = (db: Queryable, accountId: string): Promise<Membership[]> =>
  db.rows<Membership>(ofAccountStatement, [accountId])

const hasOwnerStatement = sql(
  'member-store.hasOwner',
  `select exists (select from members where role = 'owner') as has_owner`,
)

/** Whether any organization of the installation has an owner. */
export const hasOwner = async (db: Queryable): Promise<boolean> =>
  (await db.row<{ has_owner: boolean }>(hasOwnerStatement, []))?.has_owner ?? false

const ownStatement = sql(
  'member-store.ownTheOwnerless',
  `insert into members (organization_id, account_id, role)
   select o.id, $1, 'owner'
     from organizations o
    where not exists (
            select from members m
             where m.organization_id = o.id
               and m.role = 'owner')
   on conflict (organization_id, account_id) do update
      set role = 'owner', updated_at = now()`,
)

/** Makes the account the owner of every organization that has none. */
export const ownTheOwnerless = async (db: Queryable, accountId: string): Promise<void> => {
  await db.run(ownStatement, [accountId])
}
