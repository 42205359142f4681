import type { OrganizationId } from '../../contract/organization-id.ts'
import { lookup, sql, type Queryable, type Transaction } from '../../database/database.ts'
import { OperatorError } from '../organizations/operator-error.ts'

/** What an organization pays for its calls, in units of the currency. */
export interface CallPrices {
  /** ISO 4217. */
  readonly currency: string
  readonly per_call: number
  /** For each minute of a connected call, by the second. */
  readonly per_minute: number
}

const micros = 1_000_000
const maxPrice = 10_000

const findStatement = lookup(
  'call-prices.findPrices',
  `select currency, per_call_micros::float8 as per_call, per_minute_micros::float8 as per_minute
     from call_prices
    where organization_id = $1`,
)

/** Undefined: nobody has set prices, so no cost is known. */
export const findPrices = async (
  db: Queryable,
  organizationId: OrganizationId,
): Promise<CallPrices | undefined> => {
  const row = await db.row<CallPrices>(findStatement, [organizationId])
  return row && { ...row, per_call: row.per_call / micros, per_minute: row.per_minute / micros }
}

const setStatement = sql(
  'call-prices.setPrices',
  `insert into call_prices (organization_id, currency, per_call_micros, per_minute_micros)
   values ($1, $2, $3, $4)
       on conflict (organization_id) do update
      set currency = excluded.currency, per_call_micros = excluded.per_call_micros,
          per_minute_micros = excluded.per_minute_micros, updated_at = now()`,
)

const forgetStatement = sql(
  'call-prices.forgetPrices',
  `delete from call_prices
    where organization_id = $1`,
)

/** Sets the prices; undefined forgets them. Throws `OperatorError` for what is no price. */
export const setPrices = async (
  tx: Transaction,
  organizationId: OrganizationId,
  prices: CallPrices | undefined,
): Promise<void> => {
  if (!prices) return void (await tx.run(forgetStatement, [organizationId]))
  if (!/^[A-Z]{3}$/.test(prices.currency))
    throw new OperatorError('A currency is three capital letters of ISO 4217, such as EUR.')
  for (const price of [prices.per_call, prices.per_minute])
    if (!(price >= 0 && price <= maxPrice))
      throw new OperatorError(`A price is from 0 to ${maxPrice}.`)
  await tx.run(setStatement, [
    organizationId,
    prices.currency,
    Math.round(prices.per_call * micros),
    Math.round(prices.per_minute * micros),
  ])
}

const secondsPerMinute = 60

/** What calls cost at these prices, rounded to a ten-thousandth. */
export const costOfCalls = (
  prices: CallPrices,
  used: { readonly calls: number; readonly connected_seconds: number },
): number =>
  Math.round(
    (used.calls * prices.per_call +
      (used.connected_seconds / secondsPerMinute) * prices.per_minute) *
      1e4,
  ) / 1e4
