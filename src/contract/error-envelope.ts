import { z } from 'zod'
import { opaqueId } from './fields.ts'
import { errorCodes, fieldCodes, maxFieldProblems } from './errors.ts'

const details = z
  .strictObject({
    fields: z
      .array(z.strictObject({ path: z.string(), code: z.enum(fieldCodes) }))
      .max(maxFieldProblems)
      .optional()
      .meta({
        description: '`a.b[3].c` in bodies, a parameter’s or header’s bare name elsewhere.',
      }),
    truncated: z.literal(true).optional().meta({ description: 'Present when `fields` was cut.' }),
    supported_versions: z.array(z.string().regex(/^\d{4}-\d{2}-\d{2}$/)).optional(),
    existing_run_id: opaqueId.optional(),
  })
  .meta({ description: 'Only the members that apply are present.' })

/** Every error, whatever its status (contract, "Error envelope"). */
export const errorEnvelope = z
  .strictObject({
    error: z.strictObject({
      code: z.enum(errorCodes),
      message: z.string().meta({ description: 'For the integrator; may change at any time.' }),
      request_id: z.string().regex(/^[A-Za-z0-9._:-]{1,64}$/),
      details: details.optional(),
    }),
  })
  .meta({ id: 'ErrorEnvelope', description: 'Every error. Act on `code`, log `request_id`.' })
export type ErrorEnvelope = z.output<typeof errorEnvelope>
