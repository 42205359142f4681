/** The members of a value of a provider's message; none if it is no object. */
export const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

export const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '')

export const arrayOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
