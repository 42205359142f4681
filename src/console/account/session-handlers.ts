import { ApiError, notFound } from '../../contract/api-error.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import { recordChange } from '../../domains/audit/record-change.ts'
import { listMemberships } from '../../identity/member-store.ts'
import { endedCookie, tokenOf } from '../../identity/session-cookie.ts'
import {
  chooseOrganization as choose,
  endSession as end,
  endSessions,
  findSession,
  listSessions as list,
} from '../../identity/session-store.ts'
import {
  clientOf,
  isSecure,
  keepSession,
  note,
  sessionOf,
  type ConsoleHandler,
} from '../console-handler.ts'
import { isOrganizationId } from '../../domains/organizations/organization-id.ts'
import { isUuid } from '../../runtime/ids.ts'

const done = { status: 'done' } as const

export const getSession: ConsoleHandler<'getSession'> = async (_input, { db, ...context }) => {
  const session = sessionOf(context)
  return {
    id: session.sessionId,
    account: {
      id: session.userId,
      name: session.name,
      email: session.email,
      two_factor: session.hasTwoFactor,
      administers_installation: session.administersInstallation,
    },
    organization_id: session.organizationId,
    role: session.role,
    organizations: await listMemberships(db, session.userId),
  }
}

/** Opens a session. Its token is new, whatever cookie the browser sent. */
export const signIn: ConsoleHandler<'signIn'> = async ({ body }, context) => {
  const { database, identity } = context.parts
  const client = clientOf(context)
  const outcome = await identity.signIn(body, client)
  if (outcome.kind === 'code_required') return { status: 'code_required' }
  const session = await findSession(database, tokenOf(outcome.cookie) ?? '')
  if (!session) {
    await endSessions(database, outcome.accountId)
    throw new ApiError('insufficient_scope', 'This account belongs to no organization any more.')
  }
  await recordChange(database, {
    organizationId: session.organization_id,
    actor: {
      kind: 'account',
      id: session.account_id,
      name: session.email,
      address: client.address,
    },
    action: 'session.open',
    target: { type: 'session', id: session.id },
  })
  keepSession(context, outcome.cookie)
  return { status: 'signed_in' }
}

export const signOut: ConsoleHandler<'signOut'> = async (_input, context) => {
  const { userId, sessionId } = sessionOf(context)
  await end(context.db, userId, sessionId)
  await note(context.db, context, {
    action: 'session.end',
    target: { type: 'session', id: sessionId },
  })
  context.visit.cookie = endedCookie(isSecure(context))
  return done
}

export const chooseOrganization: ConsoleHandler<'chooseOrganization'> = async (
  { body },
  context,
) => {
  const { userId, sessionId } = sessionOf(context)
  const { organization_id: wanted } = body
  if (!isOrganizationId(wanted) || !(await choose(context.db, userId, sessionId, wanted)))
    throw notFound()
  return done
}

export const listSessions: ConsoleHandler<'listSessions'> = async (_input, context) => {
  const { userId, sessionId } = sessionOf(context)
  const rows = await list(context.db, userId)
  return {
    data: rows.map((row) => ({
      id: row.id,
      is_current: row.id === sessionId,
      address: row.ip_address,
      user_agent: row.user_agent,
      created_at: formatDateTime(row.created_at),
      last_seen_at: formatDateTime(row.last_seen_at),
      expires_at: formatDateTime(row.expires_at),
    })),
  }
}

export const endSession: ConsoleHandler<'endSession'> = async ({ params }, context) => {
  const { userId } = sessionOf(context)
  const { session_id: id } = params
  if (!isUuid(id) || !(await end(context.db, userId, id))) throw notFound()
  await note(context.db, context, { action: 'session.end', target: { type: 'session', id } })
  return done
}

/** Every session of the account but the one that asks. */
export const endOtherSessions: ConsoleHandler<'endOtherSessions'> = async (_input, context) => {
  const { userId, sessionId } = sessionOf(context)
  const ended = await endSessions(context.db, userId, sessionId)
  await note(context.db, context, {
    action: 'session.end_others',
    target: { type: 'account', id: userId },
    after: { ended },
  })
  return done
}
