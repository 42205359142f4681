import { z } from 'zod'
import { op } from '../define-operation.ts'
import { count, opaqueId } from '../fields.ts'
import { changes, reads } from './least-role.ts'

const day = z.string().regex(/^\d{4}-\d\d-\d\d$/)

const usageQuery = z.strictObject({
  by: z.enum(['day', 'agent', 'key']).optional(),
  /** Days of the organization's zone, both included. */
  from: day.optional(),
  to: day.optional(),
})

const usageOf = z.strictObject({
  day: z.string().optional(),
  /** Null: no program asked for these calls. */
  id: opaqueId.nullable().optional(),
  name: z.string().nullable().optional(),
  calls: count,
  answered: count,
  minutes: z.number(),
  /** At the organization's prices; absent without any. */
  cost: z.number().optional(),
  model_cost_usd: z.number(),
})

const prices = z.strictObject({
  currency: z.string().regex(/^[A-Z]{3}$/),
  per_call: z.number().min(0).max(10_000),
  per_minute: z.number().min(0).max(10_000),
})

const usage = z.strictObject({
  by: z.enum(['day', 'agent', 'key']),
  from: day,
  to: day,
  time_zone: z.string(),
  currency: z.string().optional(),
  total: usageOf,
  data: z.array(usageOf),
  /** Null: nobody has set any. */
  prices: prices.nullable(),
})

/** What calls used and cost. */
export const usageOperations = {
  getUsage: op('GET /console/usage', {
    ...reads('viewer'),
    query: usageQuery,
    response: usage,
    errors: ['resource_state_conflict'],
  }),
  exportUsage: op('GET /console/usage/export', {
    ...reads('viewer'),
    query: usageQuery,
    response: z.strictObject({ file_name: z.string(), csv: z.string() }),
    errors: ['resource_state_conflict'],
  }),
  setCallPrices: op('POST /console/usage/prices', {
    ...changes('admin'),
    body: z.strictObject({ prices: prices.nullable() }),
    response: z.strictObject({ prices: prices.nullable() }),
  }),
} as const
