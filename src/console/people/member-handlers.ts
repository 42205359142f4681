import type { OrganizationId } from '../../contract/organization-id.ts'
import { ApiError, notFound } from '../../contract/api-error.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import { mayDecideAbout, type Role } from '../../contract/roles.ts'
import type { Transaction } from '../../database/database.ts'
import {
  listMembers as list,
  lockMembers,
  removeMember as remove,
  setRole,
  type MemberRow,
} from '../../identity/member-store.ts'
import { endSessions } from '../../identity/session-store.ts'
import { note, sessionOf, type ConsoleHandler } from '../console-handler.ts'

const memberOf = (row: MemberRow) => ({
  account_id: row.account_id,
  name: row.name,
  email: row.email,
  role: row.role,
  two_factor: row.two_factor_enabled,
  ...(row.last_seen_at && { last_seen_at: formatDateTime(row.last_seen_at) }),
  created_at: formatDateTime(row.created_at),
})

export const listMembers: ConsoleHandler<'listMembers'> = async (
  _input,
  { db, organizationId },
) => ({ data: (await list(db, organizationId)).map(memberOf) })

/** Ends the member's sessions: what they may do is another from the next request on. */
export const changeRole: ConsoleHandler<'changeRole'> = async ({ params, body }, context) => {
  const { db, organizationId } = context
  const member = await requireMember(db, organizationId, params.account_id, {
    own: sessionOf(context).role,
    wanted: body.role,
  })
  if (member.role === body.role) return memberOf(member)
  await setRole(db, organizationId, member.account_id, body.role)
  await endSessions(db, member.account_id)
  await note(db, context, {
    action: 'member.change_role',
    target: { type: 'account', id: member.account_id },
    before: { email: member.email, role: member.role },
    after: { email: member.email, role: body.role },
  })
  return memberOf({ ...member, role: body.role })
}

export const removeMember: ConsoleHandler<'removeMember'> = async ({ params }, context) => {
  const { db, organizationId } = context
  const { role } = sessionOf(context)
  const member = await requireMember(db, organizationId, params.account_id, { own: role })
  await remove(db, organizationId, member.account_id)
  await endSessions(db, member.account_id)
  await note(db, context, {
    action: 'member.remove',
    target: { type: 'account', id: member.account_id },
    before: { email: member.email, role: member.role },
  })
  return { status: 'done' }
}

/** The member, whom the session may decide about. Throws 409 for the last owner. */
const requireMember = async (
  tx: Transaction,
  organizationId: OrganizationId,
  accountId: string,
  { own, wanted }: { readonly own: Role; readonly wanted?: Role },
): Promise<MemberRow> => {
  const members = await lockMembers(tx, organizationId)
  const member = members.find((each) => each.account_id === accountId)
  if (!member) throw notFound()
  if (!mayDecideAbout(own, member.role) || (wanted && !mayDecideAbout(own, wanted)))
    throw new ApiError('insufficient_scope', 'Only an owner decides about owners.')
  const owners = members.filter((each) => each.role === 'owner')
  if (member.role === 'owner' && wanted !== 'owner' && owners.length === 1)
    throw new ApiError('resource_state_conflict', 'The organization needs an owner: name another.')
  return member
}
