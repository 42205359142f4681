import type { Database } from '../../database/database.ts'
import { sql } from '../../database/database.ts'
import type { CallFence } from '../../domains/calls/lifecycle/call-fence.ts'
import { releaseClaim } from '../../domains/calls/lifecycle/release-claim.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Time } from '../../runtime/time.ts'
import { chooseLine } from '../numbers/choose-line.ts'
import { giveNumberBack } from '../numbers/number-choice-store.ts'
import { chooseTrunk } from './choose-trunk.ts'

/** The trunk of a call, and the number that its callee sees. */
export interface ChosenLine {
  readonly trunk: string
  /** E.164. */
  readonly callerId: string
}

/** Gives each claimed call of a live organization its trunk and its number. */
export interface TrunkDesk {
  /** Waits for the call's place in the trunk's pace. Undefined: the call went back to the queue, or is lost. */
  choose(fence: CallFence, signal: AbortSignal): Promise<ChosenLine | undefined>
  /** The call was not dialled after all: it does not count for its number. */
  giveBack(fence: CallFence): Promise<void>
  /** Another trunk, for a call of `trunk` that was tried by these in vain. Undefined: there is none now. */
  next(fence: CallFence, trunk: string, tried: readonly string[]): Promise<string | undefined>
}

interface TrunkDeskOptions {
  readonly database: Database
  /** Trunks that this node can reach; with `like`, those whose calls have their media at the same address. */
  readonly served: (like?: string) => readonly string[]
  /** OUTDIAL_CALLER_ID: what callees of organizations without a number see. */
  readonly callerId?: string | undefined
  readonly time: Pick<Time, 'sleep'>
  readonly logger: Logger
}

const numberStatement = sql(
  'trunk-desk.findNumber',
  `select c.phone_number, n.trunk as only_trunk
     from calls c
     left join lateral (select trunk
                          from caller_numbers
                         where organization_id = c.organization_id and phone_number = c.caller_id
                         limit 1) n on true
    where c.organization_id = $1
      and c.id = $2`,
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
  on_trial: 'trunk_down',
  trunk_full: 'trunk_full',
  congested: 'carrier_congestion',
  elsewhere: 'trunk_full',
} as const

export const createTrunkDesk = ({
  database,
  served,
  callerId,
  time,
  logger,
}: TrunkDeskOptions): TrunkDesk => ({
  choose: async (fence, signal) => {
    const request = { ...fence, served: served(), installationNumber: callerId }
    const choice = await chooseLine(database, request)
    if (choice.kind === 'lost') return undefined
    if (choice.kind !== 'chosen') {
      if (choice.kind === 'none') {
        const { code, reason, until } = choice
        await releaseClaim(database, fence, { reason, until, waitReason: waitReasons[code] })
      }
      // A place in the pace of a congested or tried trunk is not given back: the next call would find none either.
      const isSlow =
        choice.kind === 'none' && (choice.code === 'congested' || choice.code === 'on_trial')
      if (!isSlow) await database.run(refundStatement, [])
      const what = choice.kind === 'none' ? 'a call waits for a trunk' : 'a call waits for a number'
      logger.info({ call_id: fence.callId, reason: choice.reason }, what)
      return undefined
    }
    if (choice.waitMs > 0) await time.sleep(choice.waitMs, signal)
    return choice
  },
  giveBack: (fence) => giveNumberBack(database, fence),
  next: async (fence, trunk, tried) => {
    const row = await database.row<NumberRow>(numberStatement, [fence.organizationId, fence.callId])
    const only = row?.only_trunk ?? undefined
    // The number that the attempt shows goes by no other trunk.
    if (only !== undefined && tried.includes(only)) return undefined
    const choice = await chooseTrunk(database, {
      ...fence,
      phoneNumber: row?.phone_number ?? '',
      served: served(trunk),
      tried,
      only,
    })
    return choice.kind === 'chosen' ? choice.trunk : undefined
  },
})

interface NumberRow {
  readonly phone_number: string
  readonly only_trunk: string | null
}
