import { z } from 'zod'
import { dateTime, opaqueId } from './fields.ts'
import { listOf, listPaging } from './paging.ts'

/** An eligible AI voice agent: published, not archived (D8). */
export const agent = z
  .strictObject({
    id: opaqueId,
    name: z.string(),
    description: z.string().optional(),
    language: z.string().meta({ description: 'BCP 47.', examples: ['en-US'] }),
    created_at: dateTime,
    updated_at: dateTime,
  })
  .meta({ id: 'Agent', description: 'An eligible AI voice agent, managed by the operator.' })

export type Agent = z.output<typeof agent>

export const agentFilters = z.strictObject(listPaging)

export const agentList = listOf(agent).meta({ id: 'AgentList' })

export const agentExample = {
  id: '019c6b2e-7a40-7c31-9d0f-2f6a51b7c0a1',
  name: 'Appointment reminder',
  description: 'Reminds patients of tomorrow’s appointment.',
  language: 'en-US',
  created_at: '2026-07-16T08:00:00.000Z',
  updated_at: '2026-07-16T08:00:00.000Z',
}
