import { z } from 'zod'
import { opaqueId, text } from './fields.ts'
import { listOf, listPaging } from './paging.ts'

/** A run needs `active` (D6). */
export const automationStatuses = ['draft', 'active', 'paused', 'archived'] as const

export type AutomationStatus = (typeof automationStatuses)[number]

/** One Automation. The operator manages its definition, which is not shown here. */
export const automation = z
  .strictObject({
    id: opaqueId,
    name: z.string(),
    description: z.string().optional(),
    status: z.enum(automationStatuses).meta({ description: 'A run needs `active`.' }),
    input_fields: z
      .array(z.never())
      .max(0)
      .meta({ description: 'Names of input that runs take; none today.' }),
  })
  .meta({ id: 'Automation', description: 'Calls, waits and branches for one contact at a time.' })

export type Automation = z.output<typeof automation>

export const automationPath = z.strictObject({ automation_id: opaqueId })

/** `status` is text, so that an unknown status matches nothing. */
export const automationFilters = z.strictObject({
  ...listPaging,
  status: text(1, 64)
    .optional()
    .meta({ examples: ['active'] }),
})

export const automationList = listOf(automation).meta({ id: 'AutomationList' })

export const automationExample = {
  id: '019c6b2e-7a40-7c31-9d0f-2f6a51b7aa01',
  name: 'Appointment follow-up',
  description: 'Calls up to three times, then once more on the next morning.',
  status: 'active',
  input_fields: [],
}
