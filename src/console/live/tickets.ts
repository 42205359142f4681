import { randomBytes } from 'node:crypto'
import { ApiError } from '../../contract/api-error.ts'
import type { SessionPrincipal } from '../../contract/principal.ts'
import { BoundedMap } from '../../runtime/bounded-map.ts'
import type { Time } from '../../runtime/time.ts'

/** Leads from an operation, which judged and noted it, to the connection that it is for. */
export interface Tickets<Purpose> {
  /** Good once, for 30 s, for the same session. */
  readonly issue: (principal: SessionPrincipal, purpose: Purpose) => string
  /** Throws 404 for one that was not issued to this session as it is now, that was used, or that is too old. */
  readonly take: (principal: SessionPrincipal, ticket: string) => Purpose
}

const maxTickets = 1_000
const lifeMs = 30_000
const ticketBytes = 24

export const createTickets = <Purpose>(time: Pick<Time, 'monotonicMs'>): Tickets<Purpose> => {
  const issued = new BoundedMap<
    string,
    { readonly principal: SessionPrincipal; readonly purpose: Purpose; readonly endsMs: number }
  >({ maxSize: maxTickets })
  return {
    issue: (principal, purpose) => {
      const ticket = randomBytes(ticketBytes).toString('base64url')
      issued.set(ticket, { principal, purpose, endsMs: time.monotonicMs() + lifeMs })
      return ticket
    },
    take: (principal, ticket) => {
      const found = issued.get(ticket)
      issued.delete(ticket)
      const isOwn =
        found?.principal.sessionId === principal.sessionId &&
        found.principal.organizationId === principal.organizationId &&
        found.principal.role === principal.role
      if (!found || !isOwn || found.endsMs < time.monotonicMs())
        throw new ApiError('resource_not_found', 'The ticket is not valid, or not any more.')
      return found.purpose
    },
  }
}
