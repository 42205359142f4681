import { TextInput } from '@mantine/core'

interface UtcRangeProps {
  /** RFC 3339, as the address holds them. */
  readonly after: string | undefined
  readonly before: string | undefined
}

/** Fields `created_after` and `created_before` of a form of filters; `filtersOf` reads them. */
export const UtcRange = ({ after, before }: UtcRangeProps) => (
  <>
    <TextInput
      size="xs"
      type="datetime-local"
      label="From (UTC)"
      name="created_after"
      defaultValue={after?.slice(0, minuteLength) ?? ''}
    />
    <TextInput
      size="xs"
      type="datetime-local"
      label="Until (UTC)"
      name="created_before"
      defaultValue={before?.slice(0, minuteLength) ?? ''}
    />
  </>
)

/** `2026-11-23T09:00`. */
const minuteLength = 16

/** The given fields of a form with instants in RFC 3339; empty ones are left out. */
export const filtersOf = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => [
        name,
        name.startsWith('created_') ? `${value.slice(0, minuteLength)}:00Z` : value,
      ]),
  )
