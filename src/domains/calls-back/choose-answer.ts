import { readCallBackAnswer, type CallBackAnswer } from '../../contract/calls-back.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Queryable } from '../../database/database.ts'
import { judgeTransferNow } from '../organizations/judge-transfer.ts'
import { findOrganization } from '../organizations/organization-store.ts'

/** A call that its organization wants answered otherwise than its own policy allows now. */
interface FailedAnswer {
  readonly kind: 'failed'
  readonly reason: string
}

/** What a caller of this organization's number gets; the installation decides for those that say nothing. */
export const callBackAnswerOf = async (
  db: Queryable,
  organizationId: OrganizationId | undefined,
  installation: CallBackAnswer,
): Promise<CallBackAnswer | FailedAnswer> => {
  if (organizationId === undefined) return installation
  const written = (await findOrganization(db, organizationId))?.callsBack
  const own = written == null ? installation : readCallBackAnswer(written)
  if (typeof own === 'string') return { kind: 'failed', reason: own }
  if (own.kind !== 'forward' || own === installation) return own
  // The policy may have changed since.
  const verdict = await judgeTransferNow(db, organizationId, own.to)
  return 'problem' in verdict
    ? { kind: 'failed', reason: `Its calls cannot be forwarded: ${verdict.problem}`.slice(0, 300) }
    : { kind: 'forward', to: verdict.target }
}
