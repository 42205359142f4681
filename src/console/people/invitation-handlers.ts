import { ApiError, notFound } from '../../contract/api-error.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import { mayDecideAbout } from '../../contract/roles.ts'
import {
  insertInvitation,
  listInvitations as list,
  revokeInvitation as revoke,
  type InvitationRow,
} from '../../identity/invitation-store.ts'
import { listMembers } from '../../identity/member-store.ts'
import { isUuid, newId, randomBase62 } from '../../runtime/ids.ts'
import { note, sessionOf, type ConsoleHandler } from '../console-handler.ts'

const secretLength = 43 // 256 bits

const invitationOf = (row: InvitationRow) => ({
  id: row.id,
  email: row.email,
  role: row.role,
  created_at: formatDateTime(row.created_at),
  expires_at: formatDateTime(row.expires_at),
})

export const listInvitations: ConsoleHandler<'listInvitations'> = async (
  _input,
  { db, organizationId },
) => ({ data: (await list(db, organizationId)).map(invitationOf) })

/** The link is told here and nowhere again; an earlier one for the same address ends. */
export const invite: ConsoleHandler<'invite'> = async ({ body }, context) => {
  const { db, organizationId, parts } = context
  const { userId, role } = sessionOf(context)
  if (!mayDecideAbout(role, body.role))
    throw new ApiError('insufficient_scope', 'Only an owner decides about owners.')
  const members = await listMembers(db, organizationId)
  if (members.some(({ email }) => email === body.email))
    throw new ApiError('resource_state_conflict', 'This address belongs to a member already.')
  const secret = randomBase62(secretLength)
  const row = await insertInvitation(db, {
    organizationId,
    id: newId(),
    email: body.email,
    role: body.role,
    secret,
    invitedBy: userId,
  })
  await note(db, context, {
    action: 'invitation.create',
    target: { type: 'invitation', id: row.id },
    after: { email: row.email, role: row.role },
  })
  return { ...invitationOf(row), link: `${parts.origin()}/invite/${secret}` }
}

export const revokeInvitation: ConsoleHandler<'revokeInvitation'> = async ({ params }, context) => {
  const { db, organizationId } = context
  const { invitation_id: id } = params
  const row = isUuid(id) ? await revoke(db, organizationId, id) : undefined
  if (!row) throw notFound()
  await note(db, context, {
    action: 'invitation.revoke',
    target: { type: 'invitation', id },
    before: { email: row.email, role: row.role },
  })
  return { status: 'done' }
}
