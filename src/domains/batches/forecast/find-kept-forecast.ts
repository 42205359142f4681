import { keptForecast, type KeptForecast } from '../../../contract/console/forecasts.ts'
import type { OrganizationId } from '../../../contract/organization-id.ts'
import { sql, type Queryable } from '../../../database/database.ts'

const findStatement = sql(
  'find-kept-forecast.findKeptForecast',
  `select forecast
     from batch_forecasts
    where organization_id = $1
      and batch_id = $2`,
)

/** What was expected of the batch when it began. */
export const findKeptForecast = async (
  db: Queryable,
  organizationId: OrganizationId,
  batchId: string,
): Promise<KeptForecast | undefined> => {
  const row = await db.row<{ forecast: unknown }>(findStatement, [organizationId, batchId])
  const parsed = keptForecast.safeParse(row?.forecast)
  return parsed.success ? parsed.data : undefined
}
