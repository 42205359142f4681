import { stringify } from 'csv-stringify/sync'
import { findPrices, setPrices } from '../../domains/results/call-prices.ts'
import { readUsage } from '../../domains/results/daily-usage.ts'
import { usageTable } from '../../domains/results/usage-table.ts'
import { asTold, note, type ConsoleHandler } from '../console-handler.ts'

export const getUsage: ConsoleHandler<'getUsage'> = async ({ query }, { db, organizationId }) => {
  const { by = 'day', from, to } = query
  const usage = await asTold(readUsage(db, organizationId, by, { from, to }))
  const prices = await findPrices(db, organizationId)
  return { ...usage, data: [...usage.data], prices: prices ?? null }
}

/** The same as a file (RFC 4180), safe for spreadsheets. */
export const exportUsage: ConsoleHandler<'exportUsage'> = async (
  { query },
  { db, organizationId },
) => {
  const { by = 'day', from, to } = query
  const usage = await asTold(readUsage(db, organizationId, by, { from, to }))
  const { heading, rows } = usageTable(usage)
  return {
    file_name: `usage-by-${by}-${usage.from}-${usage.to}.csv`,
    csv: stringify([[...heading], ...rows.map((row) => [...row])], { escape_formulas: true }),
  }
}

export const setCallPrices: ConsoleHandler<'setCallPrices'> = async ({ body }, context) => {
  const { db, organizationId } = context
  const before = await findPrices(db, organizationId)
  await asTold(setPrices(db, organizationId, body.prices ?? undefined))
  const after = await findPrices(db, organizationId)
  await note(db, context, {
    action: 'call_prices.change',
    target: { type: 'organization', id: organizationId },
    ...(before && { before }),
    ...(after && { after }),
  })
  return { prices: after ?? null }
}
