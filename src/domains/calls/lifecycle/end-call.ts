import type { Statement, Transaction } from '../../../database/database.ts'
import { isTerminal, type TerminalStatus } from './call-states.ts'
import { endedCall, type EndedCall, type EndedRow } from './ended-call.ts'
import type { OrganizationId } from '../../../contract/organization-id.ts'

/**
 * A statement that ends calls, and its values. This folder makes them: `endHeld` (the live call, the gate, the rescue),
 * `cancelQueued` and `requestCancel` (one call), `cancelUndialled` (a whole batch).
 */
export interface Ending {
  readonly statement: Statement
  /** `$1`. */
  readonly organizationId: OrganizationId
  /** `$2` and so on. */
  readonly values: readonly unknown[]
}

/**
 * What must commit with the end of calls: results, settlement of a batch, jobs. It gets the calls that one
 * statement ended, which belong to one organization. An error rolls the end back with it. A subscriber does no I/O
 * besides `tx`: what must be sent or computed is a job that it adds.
 */
export type CallEndSubscriber<Learned = unknown> = (
  tx: Transaction,
  calls: readonly EndedCall<Learned>[],
) => Promise<void>

/**
 * Ends calls, with all consequences, in the transaction of the caller. Returns the calls that ended: none if
 * another end came first, which then stays. `learned` is what a live call knows at its own end.
 */
export type EndCall<Learned = never> = (
  tx: Transaction,
  ending: Ending,
  learned?: Learned,
) => Promise<readonly EndedCall[]>

/** Every end of a call goes through here. The subscribers run one after the other, in lock order. */
export const createEndCall =
  <Learned = never>(subscribers: readonly CallEndSubscriber<Learned>[]): EndCall<Learned> =>
  async (tx, { statement, organizationId, values }, learned) => {
    const rows = await tx.rows<EndedRow>(statement, [organizationId, ...values])
    const calls: readonly EndedCall<Learned>[] = rows.filter(hasEnded).map((row) => ({
      ...endedCall(organizationId, row),
      ...(learned !== undefined && { learned }),
    }))
    if (calls.length > 0) for (const subscriber of subscribers) await subscriber(tx, calls)
    return calls
  }

const hasEnded = (row: EndedRow): row is EndedRow & { readonly status: TerminalStatus } =>
  isTerminal(row.status)
