import { keptForecast, type KeptForecast } from '../../../contract/console/forecasts.ts'
import type { OrganizationId } from '../../../contract/organization-id.ts'
import { sql, type Database } from '../../../database/database.ts'
import { findBatch } from '../batch-store.ts'
import { forecastBatch } from './forecast-batch.ts'

/** Batches handled in one turn; the next turn takes the rest. */
const maxBatchesPerTurn = 5

const begunStatement = sql(
  'keep-forecasts.findBegun',
  `select b.organization_id, b.id
     from batches b
    where b.status in ('queued', 'in_progress')
      and not exists (select
                        from batch_forecasts f
                       where f.organization_id = b.organization_id
                         and f.batch_id = b.id)
    order by b.updated_at
    limit $1`,
)

const keepStatement = sql(
  'keep-forecasts.keep',
  `insert into batch_forecasts (organization_id, batch_id, forecast)
   values ($1, $2, $3)
   on conflict do nothing`,
)

/**
 * Keeps the forecast of each batch that has begun, so that it can be compared with what comes. Any number of nodes
 * may do this at once: the first forecast stays. A batch whose forecast fails gets none, and is not tried again.
 */
export const keepForecasts = async (db: Database): Promise<void> => {
  const errors: unknown[] = []
  const begun = await db.rows<{ organization_id: OrganizationId; id: string }>(begunStatement, [
    maxBatchesPerTurn,
  ])
  for (const { organization_id: organizationId, id } of begun) {
    const forecast = await forecastOf(db, organizationId, id).catch((error: unknown) => {
      errors.push(error)
      return undefined
    })
    const text = forecast === undefined ? null : JSON.stringify(forecast)
    await db.run(keepStatement, [organizationId, id, text])
  }
  if (errors.length > 0) throw new AggregateError(errors, 'batches got no forecast')
}

const forecastOf = async (
  db: Database,
  organizationId: OrganizationId,
  batchId: string,
): Promise<KeptForecast | undefined> => {
  const batch = await findBatch(db, organizationId, batchId, undefined)
  if (!batch) return undefined
  const whole = await forecastBatch(db, organizationId, batch, { isWhole: true })
  return keptForecast.parse({
    made_at: whole.made_at,
    will_ring: whole.will_ring,
    expected_answers: whole.expected_answers,
    hours: whole.hours,
    ...(whole.first_ring_at !== undefined && {
      first_ring_at: whole.first_ring_at,
      last_ring_at: whole.last_ring_at,
      ends_at: whole.ends_at,
    }),
  })
}
