/* Which of an organization's numbers a callee sees (D16), the best first; no I/O. */

/** A number of the organization. */
export interface CallerNumber {
  readonly phone_number: string
  /** ISO 3166; null: of no single country. */
  readonly country: string | null
  /** It is shown on this trunk only; null: on any. */
  readonly trunk: string | null
  /** Null: as many as there are. */
  readonly calls_per_day: number | null
  readonly calls_today: number
  readonly is_resting: boolean
  /** When its rest ends, in milliseconds since 1970; null: not before it is resumed. */
  readonly rests_until_ms: number | null
}

interface NumberRequest {
  /** E.164. */
  readonly callee: string
  readonly country: string | null
  readonly numbers: readonly CallerNumber[]
  /** Those of the agent; undefined: all of the organization. */
  readonly allowed?: readonly string[] | undefined
  /** The number that this call, or the last one to this callee, has shown: it goes on with it while it may be used. */
  readonly kept?: string | undefined
  /** The number for which this call is counted today already. */
  readonly paid?: string | undefined
  /** When the day of the organization ends, in milliseconds since 1970. */
  readonly dayEndMs: number
}

export interface RankedNumber {
  readonly phoneNumber: string
  readonly trunk: string | undefined
  /** The call is counted for it today already. */
  readonly isPaid: boolean
}

export type RankedNumbers =
  | { readonly kind: 'usable'; readonly numbers: readonly RankedNumber[] }
  /** The organization has none, and its agent names none: the installation's number is shown. */
  | { readonly kind: 'none' }
  | {
      readonly kind: 'wait'
      readonly code: 'no_caller_id' | 'caller_ids_exhausted' | 'caller_ids_resting'
      /** One sentence. */
      readonly reason: string
      /** Undefined: a change of a number releases the call. */
      readonly untilMs?: number
    }

/**
 * The number that was kept; then those of the callee's country, those that have more of their beginning in common with
 * the callee, and those that were used less today.
 */
export const rankNumbers = (request: NumberRequest): RankedNumbers => {
  const { numbers, allowed, callee, country, kept, paid } = request
  if (numbers.length === 0 && allowed === undefined) return { kind: 'none' }
  const named = allowed && new Set(allowed)
  const known = named ? numbers.filter((each) => named.has(each.phone_number)) : numbers
  const usable = known.filter((each) => !each.is_resting && (isPaid(each, paid) || hasCalls(each)))
  if (usable.length === 0) return whyNone(known, request)
  const ranked = usable
    .map((each) => ({
      each,
      rank: [
        each.phone_number === kept ? 0 : 1,
        country !== null && each.country === country ? 0 : 1,
        -commonLength(each.phone_number, callee),
        each.calls_today,
      ],
    }))
    .toSorted((a, b) => compare(a.rank, b.rank) || order(a.each.phone_number, b.each.phone_number))
  return {
    kind: 'usable',
    numbers: ranked.map(({ each }) => ({
      phoneNumber: each.phone_number,
      trunk: each.trunk ?? undefined,
      isPaid: isPaid(each, paid),
    })),
  }
}

const isPaid = ({ phone_number: number }: CallerNumber, paid: string | undefined): boolean =>
  number === paid

const hasCalls = ({ calls_per_day: limit, calls_today: calls }: CallerNumber): boolean =>
  limit === null || calls < limit

const whyNone = (
  known: readonly CallerNumber[],
  { allowed, dayEndMs }: NumberRequest,
): RankedNumbers => {
  const whose = allowed === undefined ? 'The organization’s numbers' : 'The agent’s caller IDs'
  if (known.length === 0)
    return {
      kind: 'wait',
      code: 'no_caller_id',
      reason: 'The organization has none of the agent’s caller IDs any more.',
    }
  const resting = known.filter(({ is_resting: isResting }) => isResting)
  const rested = resting.flatMap(({ rests_until_ms: until }) => (until === null ? [] : [until]))
  if (resting.length === known.length) {
    const reason = `${whose} all rest.`
    return rested.length === 0
      ? { kind: 'wait', code: 'caller_ids_resting', reason }
      : { kind: 'wait', code: 'caller_ids_resting', reason, untilMs: Math.min(...rested) }
  }
  const others = resting.length === 0 ? '' : ' The others rest.'
  return {
    kind: 'wait',
    code: 'caller_ids_exhausted',
    reason: `${whose} have made the calls that they may make on this day.${others}`,
    untilMs: Math.min(dayEndMs, ...rested),
  }
}

const commonLength = (a: string, b: string): number => {
  let length = 0
  while (length < a.length && a[length] === b[length]) length += 1
  return length
}

const compare = (a: readonly number[], b: readonly number[]): number => {
  for (const [index, value] of a.entries()) {
    const difference = value - (b[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
