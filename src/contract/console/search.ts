import { z } from 'zod'
import { opaqueId, text } from '../fields.ts'

const foundKinds = [
  'call',
  'batch',
  'run',
  'contact',
  'agent',
  'automation',
  'recording',
  'key',
] as const

/** An id or the beginning of one, words of a name, or a part of a number. */
export const searchQuestion = z.strictObject({ q: text(1, 100) })

/** Things of all kinds that one search finds. */
export const maxFound = 40

/** Members are named as masking knows them: what is beside `phone_number` is of a person. */
const found = z.strictObject({
  kind: z.enum(foundKinds),
  id: opaqueId,
  /** Of a recording: where it is heard. */
  call_id: opaqueId.optional(),
  name: z.string().optional(),
  contact_name: z.string().optional(),
  phone_number: z.string().optional(),
  status: z.string().optional(),
})

export const searchResult = z.strictObject({ data: z.array(found).max(maxFound) })
