import type { z } from 'zod'
import { contactInput, type ContactInput } from '../../contract/contacts.ts'

/** A contact of a file that may have no identity of its own: then the number says who it is. */
export const personInput = contactInput.partial({ external_id: true })

export type PersonInput = Omit<ContactInput, 'external_id'> &
  Pick<z.output<typeof personInput>, 'external_id'>
