/** The contact's fields that an agent's texts may contain. */
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

type TemplateField = (typeof templateFields)[number]

/** Unset fields may be absent, null or empty. */
export type TemplateContact = Readonly<Partial<Record<TemplateField, string | null>>>

/** `{{contact.company}}`, or with a default for an unset field: `{{contact.company|your company}}`. */
const variable = /\{\{([^{}|]*)(?:\|([^{}]*))?\}\}/g

const isTemplateField = (name: string): name is TemplateField =>
  templateFields.some((field) => field === name)

const fieldOf = (name: string): TemplateField | undefined => {
  const field = name.trim().replace(/^contact\./, '')
  return name.trim().startsWith('contact.') && isTemplateField(field) ? field : undefined
}

/** One sentence for each unknown variable and for unclosed braces; none for a valid text. */
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

/** The maximum length of one field in a text: enough for any name or company, too little for a second prompt. */
const maxValueLength = 255

/**
 * The text with the contact's fields filled in; an unset field gives its default, else nothing. A value becomes one
 * line of plain text, because its author is not the author of the prompt. A name that only repeats the number
 * counts as unset.
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
