/** The contact's fields an agent's texts may name. */
const templateFields = [
  'name',
  'phone_number',
  'email',
  'company',
  'role',
  'city',
  'country',
  'external_id',
  'source',
] as const

export type TemplateField = (typeof templateFields)[number]

/** Unset fields may be absent, null or empty. */
export type TemplateContact = Readonly<Partial<Record<TemplateField, string | null>>>

/** `{{contact.company}}`, or with what to say where it is unset: `{{contact.company|your company}}`. */
const variable = /\{\{([^{}|]*)(?:\|([^{}]*))?\}\}/g

const isTemplateField = (name: string): name is TemplateField =>
  templateFields.some((field) => field === name)

const fieldOf = (name: string): TemplateField | undefined => {
  const field = name.trim().replace(/^contact\./, '')
  return name.trim().startsWith('contact.') && isTemplateField(field) ? field : undefined
}

/** One sentence for each variable that does not exist and for braces that do not close; none for a good text. */
export const templateProblems = (text: string): string[] => {
  const unknown = [...text.matchAll(variable)]
    .map(([, name = '']) => name)
    .filter((name) => fieldOf(name) === undefined)
  const problems = [...new Set(unknown)].map(
    (name) =>
      `There is no variable "${name.trim()}": it is one of ${templateFields.map((field) => `contact.${field}`).join(', ')}.`,
  )
  const rest = text.replace(variable, '')
  return /\{\{|\}\}/.test(rest)
    ? [...problems, 'It has "{{" or "}}" that are no variable; one is written {{contact.name}}.']
    : problems
}

/** How much of one field goes into a text: enough for any name or company, too little for a second prompt. */
const maxValueLength = 255

/**
 * The text with the contact's fields filled in; an unset field gives its default, else nothing. A value is one line of
 * plain text, as it was entered by somebody else than the author of the prompt. A name that only repeats the number is
 * unset: nobody said whose it is.
 */
export const renderTemplate = (text: string, contact: TemplateContact): string =>
  text.replaceAll(variable, (_, name: string, fallback = '') => {
    const field = fieldOf(name)
    const value = field && valueOf(contact, field)
    return value === undefined || value === '' ? String(fallback).trim() : value
  })

const valueOf = (contact: TemplateContact, field: TemplateField): string => {
  if (field === 'name' && contact.name === contact.phone_number) return ''
  const plain = (contact[field] ?? '').replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim()
  return Array.from(plain).slice(0, maxValueLength).join('')
}
