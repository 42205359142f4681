import type { Queryable } from '../../database/database.ts'
import type { CallingPolicy } from './calling-policy.ts'
import { isOnDoNotCallList } from './do-not-call.ts'
import { findEmergencyCode, type EmergencyCode } from '../../numbering/emergency-codes.ts'
import { homeCountry, readDialedNumber } from '../../numbering/numbering-plan.ts'
import { findOrganization } from './organization-store.ts'
import { describeDestinationProblem, destinationProblem } from './phone-destination.ts'
import { readTransferTarget, type TransferTarget } from './transfer-target.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** The target for the carrier, or why the organization's rules forbid it. */
type TransferVerdict =
  | {
      /** Rebuilt from the judged parts: an E.164 number, or a SIP address of a number or an extension. */
      readonly target: string
      /** Absent for an extension. */
      readonly number?: string
    }
  | { readonly problem: string }

/** Judges a target by the policy alone; the administrator gets a sentence about the problem. */
export const judgeTransfer = (text: string, policy: CallingPolicy): TransferVerdict => {
  const target = readTransferTarget(text)
  if ('problem' in target) return target
  const dialed = target.kind === 'number' ? target.digits : target.user
  const emergency = findEmergencyCode(dialed, policy)
  if (emergency !== undefined) return { problem: emergencyProblem(dialed, emergency) }
  return target.kind === 'number'
    ? judgeNumber(target, policy)
    : judgeExtension(target, policy.allowedExtensions ?? [])
}

const emergencyProblem = (dialed: string, { code, country }: EmergencyCode): string => {
  const where =
    country === undefined
      ? 'in many countries'
      : `in ${country}, which the policy allows to be called`
  const what = code === dialed ? `"${code}"` : `"${dialed}" ends in "${code}", which`
  return `${what} is an emergency code ${where}: emergency services are never called by an agent.`
}

/** Judges a target by the organization's present policy and its do-not-call list. */
export const judgeTransferNow = async (
  db: Queryable,
  organizationId: OrganizationId,
  text: string,
): Promise<TransferVerdict> => {
  const organization = await findOrganization(db, organizationId)
  if (!organization) return { problem: 'The organization is gone.' }
  const verdict = judgeTransfer(text, organization.policy)
  if ('problem' in verdict || verdict.number === undefined) return verdict
  const isBarred = await isOnDoNotCallList(db, organizationId, verdict.number)
  return isBarred ? { problem: 'The number is on the do-not-call list.' } : verdict
}

type NumberTarget = Extract<TransferTarget, { kind: 'number' }>
type ExtensionTarget = Extract<TransferTarget, { kind: 'extension' }>

const judgeNumber = (target: NumberTarget, policy: CallingPolicy): TransferVerdict => {
  const number = target.isInternational
    ? `+${target.digits}`
    : readDialedNumber(target.digits, homeCountry(policy))
  if (number === undefined) return { problem: unreadable }
  const problem = destinationProblem(number, policy)
  if (problem !== undefined) return { problem: describeDestinationProblem(problem) }
  return { target: target.host === undefined ? number : write(target, number), number }
}

const unreadable =
  'This is no telephone number as it is dialled in the organization\'s country: write it with "+" and the calling code.'

/** Entries are an extension at any host, or at one host. */
const judgeExtension = (target: ExtensionTarget, allowed: readonly string[]): TransferVerdict => {
  if (target.host === undefined)
    return { problem: 'An extension needs a host: write it as "sip:200@pbx.example.com".' }
  const atHost = `${target.user}@${hostOf(target.host)}`
  const isAllowed = allowed.some((entry) => isSameExtension(entry, target.user, atHost))
  return isAllowed
    ? { target: write(target, target.user) }
    : {
        problem: `"${atHost}" is an extension that allowed_extensions of the policy does not name.`,
      }
}

/** User parts are compared case-sensitively (RFC 3261 19.1.4), hosts are not. */
const isSameExtension = (entry: string, user: string, atHost: string): boolean => {
  const [allowedUser = '', allowedHost] = entry.split('@')
  return allowedHost === undefined
    ? allowedUser === user
    : `${allowedUser}@${allowedHost.toLowerCase()}` === atHost
}

const hostOf = (hostPort: string): string => hostPort.toLowerCase()

const write = ({ scheme, host = '', transport }: TransferTarget, user: string): string =>
  `${scheme}:${user}@${host}${transport === undefined ? '' : `;transport=${transport}`}`
