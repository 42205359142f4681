import type { OrganizationId } from '../contract/organization-id.ts'
import { formatDateTime } from '../contract/date-time.ts'
import type { Role } from '../contract/roles.ts'
import type { Database, Queryable } from '../database/database.ts'
import { commandLine } from '../domains/audit/command-line.ts'
import { recordChange } from '../domains/audit/record-change.ts'
import { checkName } from '../domains/organizations/create-organization.ts'
import { OperatorError } from '../domains/organizations/operator-error.ts'
import {
  administerInstallation,
  findAccountByEmail,
  listAccounts,
} from '../identity/account-store.ts'
import type { Identity } from '../identity/identity.ts'
import { addMember, hasOwner, listMemberships } from '../identity/member-store.ts'
import { maxPasswordLength, minPasswordLength } from '../contract/password-length.ts'
import { makePassword } from '../identity/passwords.ts'
import { takeFirstOwner } from '../identity/setup-store.ts'

export interface NewAdministrator {
  readonly email: string
  readonly name: string
  readonly organizationId: OrganizationId
  readonly role: Role
  readonly password: string | undefined
}

export interface MadeAdministrator {
  readonly email: string
  readonly organization_id: OrganizationId
  readonly role: Role
  /** Present where one was made up. */
  readonly password?: string
}

/** An account with a membership; of an account that is known, the membership alone. Throws `OperatorError`. */
export const createAdministrator = (
  database: Database,
  identity: Identity,
  { email: given, name, organizationId, role, password }: NewAdministrator,
): Promise<MadeAdministrator> =>
  database.transaction(async (tx) => {
    const email = checkEmail(given)
    const known = await findAccountByEmail(tx, email)
    const secret = password === undefined ? makePassword() : checkPassword(password)
    const account =
      known ??
      (await identity.createAccount(tx, { email, name: checkName(name, 200), password: secret }))
    // Setup links end once an owner stands, whoever made it.
    if (role === 'owner' && !(await hasOwner(tx)) && (await takeFirstOwner(tx)))
      await administerInstallation(tx, account.id)
    if (!(await addMember(tx, organizationId, account.id, role)))
      throw new OperatorError(`${email} is a member of the organization already.`)
    await recordChange(tx, {
      organizationId,
      actor: commandLine(),
      action: 'member.join',
      target: { type: 'account', id: account.id },
      after: { email, role },
    })
    return {
      email,
      organization_id: organizationId,
      role,
      ...(known === undefined && password === undefined && { password: secret }),
    }
  })

/** Sets a password and ends the account's sessions; returns the password where one was made up. */
export const resetAdministrator = (
  database: Database,
  identity: Identity,
  email: string,
  password: string | undefined,
): Promise<{ readonly email: string; readonly password?: string }> =>
  database.transaction(async (tx) => {
    const account = await findAccountByEmail(tx, email)
    if (!account) throw new OperatorError(`There is no account ${email}.`)
    const secret = password === undefined ? makePassword() : checkPassword(password)
    await identity.resetPassword(tx, account.id, secret)
    for (const { organization_id: organizationId } of await listMemberships(tx, account.id))
      await recordChange(tx, {
        organizationId,
        actor: commandLine(),
        action: 'account.reset_password',
        target: { type: 'account', id: account.id },
      })
    return { email: account.email, ...(password === undefined && { password: secret }) }
  })

/** Every account as `admin list` prints it. */
export const listAdministrators = async (db: Queryable) =>
  (await listAccounts(db)).map(({ last_seen_at: lastSeenAt, ...account }) => ({
    ...account,
    ...(lastSeenAt && { last_seen_at: formatDateTime(lastSeenAt) }),
  }))

const emailPattern = /^[^\s@]{1,64}@[^\s@]{1,189}$/

const checkEmail = (text: string): string => {
  const email = text.trim().toLowerCase()
  if (!emailPattern.test(email)) throw new OperatorError(`${text} is no e-mail address.`)
  return email
}

const checkPassword = (password: string): string => {
  if (password.length < minPasswordLength || password.length > maxPasswordLength)
    throw new OperatorError(
      `A password must have ${minPasswordLength} to ${maxPasswordLength} characters.`,
    )
  return password
}
