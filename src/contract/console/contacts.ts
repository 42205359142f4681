import { z } from 'zod'
import { contact } from '../contacts.ts'
import { count, dateTime, opaqueId, phoneNumber, text } from '../fields.ts'

/** Words, or a part of a number. */
export const contactQuestion = z.strictObject({ q: text(1, 100) })

/** Contacts that are shown of those that fit. */
export const maxFoundContacts = 50

export const foundContacts = z.strictObject({
  /** Newest first. */
  data: z.array(contact).max(maxFoundContacts),
  /** Whether more fit. */
  truncated: z.boolean(),
})

export const contactDetail = contact.extend({
  /** Whether the number is on the do-not-call list. */
  is_blocked: z.boolean(),
  /** Where the callee may be; empty for a number without a place. */
  time_zones: z.array(z.string()),
})

const clearable = text(0, 255).optional()

/** What an operator may change of a contact: its identity is the caller's. */
export const contactChange = z.strictObject({
  name: text(1, 255).optional(),
  phone_number: phoneNumber.optional(),
  email: text(0, 320).optional(),
  company: clearable,
  role: clearable,
  city: clearable,
  country: clearable,
})

export type ContactEdit = z.output<typeof contactChange>

export const doNotCallChange = z.strictObject({ is_blocked: z.boolean() })

/** What an erasure deleted. */
export const erasureReceipt = z.strictObject({
  contact_id: opaqueId,
  calls: count,
  recordings: count,
  erased_at: dateTime,
  erased_by: z.string(),
})
