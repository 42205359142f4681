import type { DraftFile } from './draft-store.ts'
import { renderTemplate, type TemplateContact } from './template.ts'

/** Members of an agent file that are filled in for each contact. */
const filledMembers = ['greeting', 'prompt', 'voicemail_message'] as const

type PreviewTexts = Readonly<Partial<Record<(typeof filledMembers)[number], string>>>

/** A person for previews where no contact is chosen; the number is one of the sandbox. */
export const sampleContact = {
  name: 'Ada Lovelace',
  phone_number: '+12025550100',
  email: 'ada@example.com',
  company: 'Analytical Engines',
  role: 'Engineer',
  city: 'London',
  country: 'GB',
  external_id: 'crm-1842',
  source: 'public_api',
} as const satisfies TemplateContact

/** The texts of an agent file, also an unfinished one, as a call to the contact would have them. */
export const previewTexts = (file: DraftFile, contact: TemplateContact): PreviewTexts =>
  Object.fromEntries(
    filledMembers.flatMap((name) => {
      const text = file[name]
      return typeof text === 'string' ? [[name, renderTemplate(text, contact)]] : []
    }),
  )
