import type { Database } from '../../database/database.ts'
import { sql } from '../../database/database.ts'
import type { CallFence } from '../../domains/calls/lifecycle/call-fence.ts'
import { releaseClaim } from '../../domains/calls/lifecycle/release-claim.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Time } from '../../runtime/time.ts'
import { chooseTrunk } from './choose-trunk.ts'

/** Gives each claimed call of a live organization its trunk. */
export interface TrunkDesk {
  /** Waits for the call's place in the trunk's pace. Undefined: the call went back to the queue, or is lost. */
  choose(fence: CallFence, signal: AbortSignal): Promise<string | undefined>
  /** Another trunk, for a call of `trunk` that was tried by these in vain. Undefined: there is none now. */
  next(fence: CallFence, trunk: string, tried: readonly string[]): Promise<string | undefined>
}

interface TrunkDeskOptions {
  readonly database: Database
  /** Trunks that this node can reach; with `like`, those whose calls have their media at the same address. */
  readonly served: (like?: string) => readonly string[]
  readonly time: Pick<Time, 'sleep'>
  readonly logger: Logger
}

const numberStatement = sql(
  'trunk-desk.findNumber',
  `select phone_number
     from calls
    where organization_id = $1
      and id = $2`,
)

// The claim paid for a call that was not dialled.
const refundStatement = sql(
  'trunk-desk.refundClaim',
  `update routes
      set tokens = least(burst, tokens + 1)
    where name = 'env'`,
)

const waitReasons = {
  no_trunk: 'no_trunk',
  trunk_down: 'trunk_down',
  trunk_full: 'trunk_full',
  elsewhere: 'trunk_full',
} as const

export const createTrunkDesk = ({
  database,
  served,
  time,
  logger,
}: TrunkDeskOptions): TrunkDesk => {
  const ask = async (fence: CallFence, tried: readonly string[], like?: string) => {
    const values = [fence.organizationId, fence.callId]
    const row = await database.row<{ phone_number: string }>(numberStatement, values)
    return chooseTrunk(database, {
      ...fence,
      phoneNumber: row?.phone_number ?? '',
      served: served(like),
      tried,
    })
  }
  return {
    choose: async (fence, signal) => {
      const choice = await ask(fence, [])
      if (choice.kind === 'lost') return undefined
      if (choice.kind === 'none') {
        const { code, reason, until } = choice
        await releaseClaim(database, fence, { reason, until, waitReason: waitReasons[code] })
        await database.run(refundStatement, [])
        logger.info({ call_id: fence.callId, reason }, 'a call waits for a trunk')
        return undefined
      }
      if (choice.waitMs > 0) await time.sleep(choice.waitMs, signal)
      return choice.trunk
    },
    next: async (fence, trunk, tried) => {
      const choice = await ask(fence, tried, trunk)
      return choice.kind === 'chosen' ? choice.trunk : undefined
    },
  }
}
