import { z } from 'zod'
import { dateTimeParameter, integerParameter } from './fields.ts'

/**
 * Where a page ended: the row's sort value as text (a time with microseconds, for a transcript its revision) and
 * its id (for a transcript the position). Clients get it signed, as an opaque cursor (D1).
 */
export interface Position {
  readonly sort: string
  readonly id: string
}

/** An opaque cursor as clients send it. */
export const cursor = z
  .string()
  .min(1)
  .max(2048)
  .meta({ description: 'The `next_cursor` of the page before.' })

const limit = (max: number, byDefault: number) =>
  integerParameter(1, max)
    .default(byDefault)
    .meta({
      description: `Rows in one page, at most ${max}. Out of range is refused, never clamped.`,
    })

/** `limit` and `cursor` of every list (contract, "Endpoints"). */
export const listPaging = { limit: limit(100, 20), cursor: cursor.optional() }

/** `limit` and `cursor` of a transcript. */
export const transcriptPaging = { limit: limit(250, 100), cursor: cursor.optional() }

/** Query members that shape a page without choosing its rows: a cursor is not bound to them (D1). */
export const unboundQueryMembers = ['limit', 'cursor', 'include', 'expires_in'] as const

/** Creation-time filters: after is inclusive, before exclusive, so that adjacent windows do not overlap (D1). */
export const createdFilters = {
  created_after: dateTimeParameter.optional().meta({ description: 'Inclusive lower bound.' }),
  created_before: dateTimeParameter.optional().meta({ description: 'Exclusive upper bound.' }),
}

/** `{data, next_cursor}`: newest first (contract, "Conventions"). */
export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({
    data: z.array(item),
    next_cursor: cursor.nullable().meta({ description: 'null on the last page.' }),
  })
