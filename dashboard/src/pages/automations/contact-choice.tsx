import { NativeSelect, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { reading } from '../../client/queries.ts'

/** As many as one page of contacts has. */
const maxContacts = '100'

interface ContactChoiceProps {
  readonly value: string
  /** What the empty choice is called. */
  readonly none: string
  readonly error?: string | undefined
  readonly onChange: (contactId: string) => void
}

/** One of the newest contacts, or any other by its id. */
export const ContactChoice = ({ value, none, error, onChange }: ContactChoiceProps) => {
  const { data } = useQuery(reading('listContacts', { query: { limit: maxContacts } }))
  const contacts = data?.data ?? []
  const hasMore = data?.next_cursor != null
  const isListed = value === '' || contacts.some(({ id }) => id === value)
  return (
    <Stack gap="xs">
      <NativeSelect
        label="Contact"
        error={isListed ? error : undefined}
        value={isListed ? value : 'other'}
        data={[
          { value: '', label: none },
          ...contacts.map(({ id, name, phone_number: number }) => ({
            value: id,
            label: `${name}, ${number}`,
          })),
          ...(hasMore || !isListed ? [{ value: 'other', label: 'Another, by its id' }] : []),
        ]}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
      {!isListed && (
        <TextInput
          label="Id of the contact"
          error={error}
          value={value === 'other' ? '' : value}
          onChange={({ currentTarget }) => onChange(currentTarget.value.trim() || 'other')}
        />
      )}
    </Stack>
  )
}
