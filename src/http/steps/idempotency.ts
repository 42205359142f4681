import { hash } from 'node:crypto'
import { ApiError } from '../../contract/api-error.ts'
import type { Database, Transaction } from '../../database/database.ts'
import { canonicalJson } from '../canonical-json.ts'
import {
  deleteExpiredClaim,
  isDelayed,
  isHeld,
  storeResponse,
  takeClaim,
  type ClaimRow,
  type StoredResponse,
} from '../idempotency-claims.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

interface Claim {
  readonly organizationId: OrganizationId
  readonly key: string
  readonly fingerprint: Buffer
}

interface FingerprintParts {
  readonly method: string
  readonly path: string
  readonly version: string
  /** The validated body: trimmed, defaults filled in. */
  readonly body: unknown
}

/** What makes two requests the same: SHA-256 over method, path, applied version and the canonical validated body (D10). */
export const fingerprintOf = ({ method, path, version, body }: FingerprintParts): Buffer =>
  hash('sha256', `${method}\n${path}\n${version}\n${canonicalJson(body)}`, 'buffer')

export interface OnceResponse extends StoredResponse {
  readonly isReplay: boolean
}

/** How long each try waits for locks. There is another one when an expired claim or a busy table was in the way. */
const claimWaitsMs = [1, 50, 500]
const retryAfterSeconds = 1

/**
 * Runs `work` at most once per claim: claim, effect and stored response commit in one transaction (D10). Returns
 * the stored response of an equal earlier request. Throws 409 `idempotency_conflict` for an unequal one and
 * `idempotency_in_progress` while one is running.
 */
export const runOnce = async (
  database: Database,
  claim: Claim,
  work: (tx: Transaction) => Promise<StoredResponse>,
): Promise<OnceResponse> => {
  for (const maxWaitMs of claimWaitsMs) {
    try {
      const answer = await database.transaction((tx) => claimAndWork(tx, claim, maxWaitMs, work))
      return { ...answer, isReplay: false }
    } catch (error) {
      if (!(error instanceof ClaimLost)) throw error
      const answer = replay(error.verdict, claim)
      if (answer) return answer
      await deleteExpiredClaim(database, claim.organizationId, claim.key)
    }
  }
  throw inProgress()
}

/** How the claim came out: ours to work under, held by a running request, or an earlier one's row. */
type Verdict = { readonly kind: 'ours' } | { readonly kind: 'held' } | EarlierRow

interface EarlierRow {
  readonly kind: 'earlier'
  /** Undefined if it appeared or disappeared meanwhile, or the state is unknown for now. */
  readonly row: ClaimRow | undefined
}

/** Rolls the transaction back when the claim is not ours. */
class ClaimLost extends Error {
  readonly verdict: Exclude<Verdict, { kind: 'ours' }>

  constructor(verdict: Exclude<Verdict, { kind: 'ours' }>) {
    super('The idempotency key is not ours.')
    this.verdict = verdict
  }
}

/**
 * The handler starts before the claim's result, so that BEGIN, the claim and the handler's first statement leave in
 * one round trip. A handler's effects are rows of this transaction only, so a lost claim undoes them all.
 */
const claimAndWork = async (
  tx: Transaction,
  claim: Claim,
  maxWaitMs: number,
  work: (tx: Transaction) => Promise<StoredResponse>,
): Promise<StoredResponse> => {
  const [verdict, worked] = await Promise.allSettled([judgeClaim(tx, claim, maxWaitMs), work(tx)])
  if (verdict.status === 'rejected') throw verdict.reason
  if (verdict.value.kind !== 'ours') throw new ClaimLost(verdict.value)
  if (worked.status === 'rejected') throw worked.reason
  tx.withCommit(storeResponse(tx, claim.organizationId, claim.key, worked.value))
  return worked.value
}

const judgeClaim = async (tx: Transaction, claim: Claim, maxWaitMs: number): Promise<Verdict> => {
  const { organizationId, key, fingerprint } = claim
  try {
    const taken = await takeClaim(tx, organizationId, key, fingerprint, maxWaitMs)
    return taken.isOurs ? { kind: 'ours' } : { kind: 'earlier', row: taken.earlier }
  } catch (error) {
    if (isHeld(error)) return { kind: 'held' }
    if (isDelayed(error)) return { kind: 'earlier', row: undefined }
    throw error
  }
}

/** The stored response, if there is a valid one; `undefined` if the claim is to be tried again. */
const replay = (
  verdict: Exclude<Verdict, { kind: 'ours' }>,
  claim: Claim,
): OnceResponse | undefined => {
  if (verdict.kind === 'held') throw inProgress()
  const { row } = verdict
  if (!row || row.is_expired || row.status === null || row.body === null) return undefined
  if (!claim.fingerprint.equals(row.fingerprint))
    throw new ApiError(
      'idempotency_conflict',
      'This Idempotency-Key was used within 24 hours for a request that differs.',
    )
  return {
    status: row.status,
    body: row.body,
    location: row.location ?? undefined,
    isReplay: true,
  }
}

const inProgress = (): ApiError =>
  new ApiError(
    'idempotency_in_progress',
    'A request with this Idempotency-Key is still running. Retry it shortly.',
    undefined,
    { retryAfterSeconds },
  )
