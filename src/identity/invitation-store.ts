import type { OrganizationId } from '../contract/organization-id.ts'
import { hash } from 'node:crypto'
import type { Role } from '../contract/roles.ts'
import { sql, type Queryable, type Transaction } from '../database/database.ts'

/** How long an invitation can be accepted (D18). */
const invitationHours = 72

export interface InvitationRow {
  readonly id: string
  readonly organization_id: OrganizationId
  readonly email: string
  readonly role: Role
  readonly created_at: Date
  readonly expires_at: Date
}

const columns = 'id, organization_id, email, role, created_at, expires_at'

/** What can still be accepted. */
const isOpen = 'accepted_at is null and revoked_at is null and expires_at > now()'

const hashSecret = (secret: string): Buffer => hash('sha256', secret, 'buffer')

interface NewInvitation {
  readonly organizationId: OrganizationId
  readonly id: string
  readonly email: string
  readonly role: Role
  readonly secret: string
  readonly invitedBy: string
}

// An earlier invitation of the same address gives way.
const insertStatement = sql(
  'invitation-store.insertInvitation',
  `with replaced as (
     update invitations
        set revoked_at = now()
      where organization_id = $1
        and email = lower($3)
        and ${isOpen}
   )
   insert into invitations (organization_id, id, email, role, secret_hash, invited_by, expires_at)
   values ($1, $2, lower($3), $4, $5, $6, now() + interval '${invitationHours} hours')
   returning ${columns}`,
)

export const insertInvitation = async (
  db: Queryable,
  invitation: NewInvitation,
): Promise<InvitationRow> => {
  const row = await db.row<InvitationRow>(insertStatement, [
    invitation.organizationId,
    invitation.id,
    invitation.email,
    invitation.role,
    hashSecret(invitation.secret),
    invitation.invitedBy,
  ])
  if (!row) throw new Error('An invitation was not inserted.')
  return row
}

const listStatement = sql(
  'invitation-store.listInvitations',
  `select ${columns}
     from invitations
    where organization_id = $1
      and ${isOpen}
    order by created_at desc, id desc`,
)

/** The invitations that can still be accepted, newest first. */
export const listInvitations = (
  db: Queryable,
  organizationId: OrganizationId,
): Promise<InvitationRow[]> => db.rows<InvitationRow>(listStatement, [organizationId])

const revokeStatement = sql(
  'invitation-store.revokeInvitation',
  `update invitations
      set revoked_at = now()
    where organization_id = $1
      and id = $2
      and ${isOpen}
   returning ${columns}`,
)

export const revokeInvitation = (
  db: Queryable,
  organizationId: OrganizationId,
  invitationId: string,
): Promise<InvitationRow | undefined> =>
  db.row<InvitationRow>(revokeStatement, [organizationId, invitationId])

const findStatement = sql(
  'invitation-store.findInvitation',
  `select ${columns}
     from invitations
    where secret_hash = $1
      and ${isOpen}`,
)

/** The invitation that a secret opens. */
export const findInvitation = (db: Queryable, secret: string): Promise<InvitationRow | undefined> =>
  db.row<InvitationRow>(findStatement, [hashSecret(secret)])

const takeStatement = sql(
  'invitation-store.takeInvitation',
  `update invitations
      set accepted_at = now()
    where secret_hash = $1
      and ${isOpen}
   returning ${columns}`,
)

/** Uses the invitation up: of two that try at once, one gets it. */
export const takeInvitation = (
  tx: Transaction,
  secret: string,
): Promise<InvitationRow | undefined> => tx.row<InvitationRow>(takeStatement, [hashSecret(secret)])
