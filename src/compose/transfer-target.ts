import type { Queryable } from '../database/database.ts'
import { isOnDoNotCallList } from '../domains/organizations/do-not-call.ts'
import { findOrganization } from '../domains/organizations/organization-store.ts'
import {
  describeDestinationProblem,
  destinationProblem,
} from '../domains/organizations/phone-destination.ts'

/** Why the organization's rules forbid connecting callees with this target; `undefined` where they do not. */
export const transferProblem = async (
  db: Queryable,
  organizationId: string,
  target: string,
): Promise<string | undefined> => {
  const number = numberOf(target)
  if (number === undefined) return undefined
  const organization = await findOrganization(db, organizationId)
  if (!organization) return 'The organization is gone.'
  const problem = destinationProblem(number, organization.policy)
  if (problem !== undefined) return describeDestinationProblem(problem)
  const isBarred = await isOnDoNotCallList(db, organizationId, number)
  return isBarred ? 'The number is on the do-not-call list.' : undefined
}

/**
 * The telephone number that a target stands for: an E.164 number, or a SIP address of one. Any other SIP address is an
 * extension of its host, which no rule about numbers covers.
 */
export const numberOf = (target: string): string | undefined => {
  const user = target.startsWith('+') ? target : (/^sips?:([^@;:]+)/i.exec(target)?.[1] ?? '')
  const digits = /^(?:\+|%2b|00)(\d{7,15})$/i.exec(user)?.[1]
  return digits === undefined ? undefined : `+${digits}`
}
