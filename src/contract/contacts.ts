import { z } from 'zod'
import { dateTime, opaqueId, phoneNumber, sourceName, text } from './fields.ts'
import { createdFilters, listOf, listPaging } from './paging.ts'
import { blame, isOpenWindow } from './rules.ts'

/** Source of a contact that names none (contract, "Contact"). */
const defaultSource = 'public_api'

const clearable = text(0, 255).optional()

/** Body of POST /contacts; also the inline recipient of a call and of a batch (D3, D5). */
export const contactInput = z
  .strictObject({
    external_id: text(1, 255).meta({ description: 'Your identity of this contact.' }),
    source: sourceName.default(defaultSource),
    name: text(1, 255),
    phone_number: phoneNumber,
    email: text(0, 320).optional(),
    company: clearable,
    role: clearable,
    city: clearable,
    country: clearable,
  })
  .meta({ id: 'ContactInput', description: 'An omitted optional field stays; `""` clears it.' })

export type ContactInput = z.output<typeof contactInput>

export const contact = z
  .strictObject({
    id: opaqueId,
    external_id: text(1, 255).optional(),
    source: sourceName.optional(),
    name: text(1, 255),
    phone_number: phoneNumber,
    email: text(0, 320).optional(),
    company: clearable,
    role: clearable,
    city: clearable,
    country: clearable,
    created_at: dateTime,
    updated_at: dateTime,
  })
  .meta({ id: 'Contact', description: 'A person your organization may call.' })

export type Contact = z.output<typeof contact>

export const contactPath = z.strictObject({ contact_id: opaqueId })

export const contactFilters = z
  .strictObject({
    ...listPaging,
    external_id: text(1, 255).optional(),
    source: sourceName.optional(),
    ...createdFilters,
  })
  .refine(
    isOpenWindow,
    blame('created_before', 'invalid_range', 'must be later than created_after'),
  )

export const contactList = listOf(contact).meta({ id: 'ContactList' })

export const contactInputExample = {
  external_id: 'crm-1842',
  name: 'Ada Lovelace',
  phone_number: '+12025550100',
  company: 'Analytical Engines',
}

export const contactExample = {
  id: '019c6b2e-7a40-7c31-9d0f-2f6a51b7c001',
  source: defaultSource,
  ...contactInputExample,
  created_at: '2026-07-16T08:00:00.000Z',
  updated_at: '2026-07-16T08:00:00.000Z',
}
