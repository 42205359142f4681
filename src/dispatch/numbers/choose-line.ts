import type { Database, Transaction } from '../../database/database.ts'
import type { CallFence } from '../../domains/calls/lifecycle/call-fence.ts'
import { releaseClaim } from '../../domains/calls/lifecycle/release-claim.ts'
import { findPlannedNumber } from '../../numbering/numbering-plan.ts'
import { chooseLockedTrunk, lockTrunks, type TrunkChoice } from '../pacing/choose-trunk.ts'
import { loadNumberChoice, lockOrganization, type NumberChoiceRow } from './number-choice-store.ts'
import { rankNumbers, type RankedNumber, type RankedNumbers } from './rank-numbers.ts'

/*
 * Which number a claimed call shows, and which trunk carries it (D16), in one transaction:
 *
 *   1  lock the trunks, read the organization's numbers and how often each was used today
 *   2  rank the numbers, and choose and pay the trunk, with the best number; where that number goes by one trunk only,
 *      which takes no call now, the best of another trunk is tried
 *
 * Invariant: a number's calls of a day never exceed its `calls_per_day`, and are counted once for each call that shows
 * it: choices come one after the other, because all of them lock the trunks, and the count is written with the choice.
 */

interface LineRequest extends CallFence {
  /** Trunks that this node can reach now. */
  readonly served: readonly string[]
  /** OUTDIAL_CALLER_ID: for organizations without a number. */
  readonly installationNumber: string | undefined
}

export type LineChoice =
  | (Extract<TrunkChoice, { kind: 'chosen' }> & { readonly callerId: string })
  | Extract<TrunkChoice, { kind: 'none' | 'lost' }>
  /** No number can be shown: the call is back in the queue. */
  | { readonly kind: 'waits'; readonly reason: string }

/** Numbers of more trunks than these are not tried for one call. */
const maxTrunksTried = 4

export const chooseLine = (db: Database, request: LineRequest): Promise<LineChoice> =>
  db.transaction((tx) => choose(tx, request))

const choose = async (tx: Transaction, request: LineRequest): Promise<LineChoice> => {
  const [, found] = await Promise.all([lockTrunks(tx), loadNumberChoice(tx, request)])
  if (found === undefined) return { kind: 'lost' }
  const ranked = rank(found, request)
  if (ranked.kind === 'usable') return chooseWith(tx, request, found, ranked.numbers)
  // Once more under the lock that a change of a number takes, so that the call does not miss its wake-up.
  const [, now] = await Promise.all([
    lockOrganization(tx, request.organizationId),
    loadNumberChoice(tx, request),
  ])
  if (now === undefined) return { kind: 'lost' }
  const again = rank(now, request)
  if (again.kind === 'usable') return chooseWith(tx, request, now, again.numbers)
  const { reason, code: waitReason, untilMs } = again
  const until = untilMs === undefined ? undefined : new Date(untilMs)
  return (await releaseClaim(tx, request, { reason, waitReason, until }))
    ? { kind: 'waits', reason }
    : { kind: 'lost' }
}

/** The installation's number is counted for no organization. */
const rank = (
  found: NumberChoiceRow,
  { installationNumber }: LineRequest,
): Exclude<RankedNumbers, { kind: 'none' }> => {
  const ranked = rankNumbers({
    callee: found.phone_number,
    country: countryOf(found),
    numbers: found.numbers,
    allowed: found.caller_ids ?? undefined,
    kept: found.own_number ?? found.last_number ?? undefined,
    paid: found.own_day === found.day ? (found.own_number ?? undefined) : undefined,
    dayEndMs: found.day_end.getTime(),
  })
  if (ranked.kind !== 'none') return ranked
  return installationNumber === undefined
    ? {
        kind: 'wait',
        code: 'no_caller_id',
        reason: 'The organization has no number to call from: number add gives it one.',
      }
    : {
        kind: 'usable',
        numbers: [{ phoneNumber: installationNumber, trunk: undefined, isPaid: false }],
      }
}

const countryOf = ({ phone_number: number }: NumberChoiceRow): string | null =>
  findPlannedNumber(number)?.country ?? null

const chooseWith = async (
  tx: Transaction,
  request: LineRequest,
  found: NumberChoiceRow,
  numbers: readonly RankedNumber[],
): Promise<LineChoice> => {
  const refusals: Extract<TrunkChoice, { kind: 'none' }>[] = []
  for (const number of bestOfEachTrunk(numbers).slice(0, maxTrunksTried)) {
    const choice = await chooseLockedTrunk(tx, {
      ...request,
      phoneNumber: found.phone_number,
      tried: [],
      only: number.trunk,
      shown: {
        number: number.phoneNumber,
        day: found.numbers.length === 0 ? undefined : found.day,
        isPaid: number.isPaid,
        ...(found.own_day !== null &&
          !number.isPaid && { unpaid: { number: found.own_number ?? '', day: found.own_day } }),
      },
    })
    if (choice.kind === 'chosen') return { ...choice, callerId: number.phoneNumber }
    if (choice.kind === 'lost') return choice
    refusals.push(choice)
  }
  // The soonest: a trunk that is full is free sooner than one that is down.
  const soonest = refusals.find(({ until }) => until !== undefined) ?? refusals[0]
  return soonest ?? { kind: 'lost' }
}

/** Another number of the same trunks would fare the same. */
const bestOfEachTrunk = (numbers: readonly RankedNumber[]): readonly RankedNumber[] => {
  const best = new Map<string | undefined, RankedNumber>()
  for (const number of numbers) if (!best.has(number.trunk)) best.set(number.trunk, number)
  return [...best.values()]
}
