import { ApiError, invalidField, notFound } from '../../contract/api-error.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import type { Transaction } from '../../database/database.ts'
import { recordChange } from '../../domains/audit/record-change.ts'
import { createOrganization } from '../../domains/organizations/create-organization.ts'
import { findOrganization } from '../../domains/organizations/organization-store.ts'
import { findAccountByEmail } from '../../identity/account-store.ts'
import { makeFirstOwner } from '../../identity/first-owner.ts'
import type { ClientOrigin } from '../../identity/identity.ts'
import {
  findInvitation,
  takeInvitation,
  type InvitationRow,
} from '../../identity/invitation-store.ts'
import { addMember } from '../../identity/member-store.ts'
import { isSetupSecret } from '../../identity/setup-store.ts'
import { clientOf, keepSession, type ConsoleHandler } from '../console-handler.ts'

export const checkSetup: ConsoleHandler<'checkSetup'> = async ({ body }, { db }) => ({
  status: (await isSetupSecret(db, body.secret)) ? 'open' : 'closed',
})

/** A live organization of the given name, and an owner of it and of every organization that has none (D18). */
export const setUp: ConsoleHandler<'setUp'> = async ({ body }, context) => {
  const { db, parts } = context
  if (!(await isSetupSecret(db, body.secret))) throw notFound()
  const client = clientOf(context)
  const { name, email, password } = body
  const organization = await createOrganization(db, { name: body.organization, mode: 'live' })
  const account = await makeFirstOwner(db, parts.identity, { name, email, password })
  if (!account) throw notFound()
  const { cookie } = await parts.identity.openSession(db, account.id, client)
  await recordChange(db, {
    organizationId: organization.id,
    actor: { kind: 'account', id: account.id, name: account.email, address: client.address },
    action: 'installation.set_up',
    target: { type: 'organization', id: organization.id },
    after: { organization: organization.name, owner: account.email },
  })
  keepSession(context, cookie)
  return { status: 'done' }
}

export const showInvitation: ConsoleHandler<'showInvitation'> = async ({ body }, { db }) => {
  const invitation = await findInvitation(db, body.secret)
  const organization = invitation && (await findOrganization(db, invitation.organization_id))
  if (!invitation || !organization) throw notFound()
  return {
    organization: organization.name,
    email: invitation.email,
    role: invitation.role,
    has_account: (await findAccountByEmail(db, invitation.email)) !== undefined,
    expires_at: formatDateTime(invitation.expires_at),
  }
}

/** A person with an account proves it is theirs by its password; another gets an account. */
export const acceptInvitation: ConsoleHandler<'acceptInvitation'> = async ({ body }, context) => {
  const { database, identity } = context.parts
  const client = clientOf(context)
  const invitation = await findInvitation(database, body.secret)
  if (!invitation) throw notFound()
  const { email } = invitation
  if (await findAccountByEmail(database, email)) {
    const given = { email, password: body.password, code: body.code }
    const outcome = await identity.signIn(given, client)
    if (outcome.kind === 'code_required') return { status: 'code_required' }
    await database.transaction((tx) => join(tx, body.secret, outcome.accountId, client))
    keepSession(context, outcome.cookie)
    return { status: 'signed_in' }
  }
  const { name, password } = body
  if (name === undefined) throw invalidField('name', 'required')
  const { cookie } = await database.transaction(async (tx) => {
    const account = await identity.createAccount(tx, { name, email, password })
    await join(tx, body.secret, account.id, client)
    return identity.openSession(tx, account.id, client)
  })
  keepSession(context, cookie)
  return { status: 'signed_in' }
}

/** Uses the invitation up. */
const join = async (
  tx: Transaction,
  secret: string,
  accountId: string,
  { address }: ClientOrigin,
): Promise<InvitationRow> => {
  const invitation = await takeInvitation(tx, secret)
  if (!invitation) throw notFound()
  const { organization_id: organizationId, email, role } = invitation
  if (!(await addMember(tx, organizationId, accountId, role)))
    throw new ApiError('resource_state_conflict', 'This account is a member already.')
  await recordChange(tx, {
    organizationId,
    actor: { kind: 'account', id: accountId, name: email, address },
    action: 'member.join',
    target: { type: 'account', id: accountId },
    after: { email, role },
  })
  return invitation
}
