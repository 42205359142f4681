import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { reading } from '../../client/queries.ts'
import { ContactChoice } from '../../parts/contact-choice.tsx'

/** A batch of more contacts than an address can name is made from a file. */
const maxChosen = 100
/** Chosen contacts that are named; further ones are counted. */
const maxNamed = 20

interface ChosenContactsProps {
  readonly ids: readonly string[]
  readonly onChange: (ids: readonly string[]) => void
}

/** Contacts are added one by one by searching; those chosen in the list of contacts stand here already. */
export const ChosenContacts = ({ ids, onChange }: ChosenContactsProps) => (
  <Stack component="section" aria-labelledby="chosen-contacts" gap="xs" maw="36rem">
    <Title order={2} size="h4" id="chosen-contacts">
      Contacts
    </Title>
    {ids.length > 0 && (
      <ul className="steps">
        {ids.slice(0, maxNamed).map((id) => (
          <Chosen key={id} id={id} onRemove={() => onChange(ids.filter((each) => each !== id))} />
        ))}
      </ul>
    )}
    <Text size="sm" role="status">
      {ids.length === 0
        ? 'Choose contacts, or upload a file below.'
        : `${ids.length} chosen contacts.`}
    </Text>
    <ContactChoice
      label="Add a contact"
      none="Search all contacts"
      value=""
      disabled={ids.length >= maxChosen}
      onChange={(id) => {
        if (id !== '' && !ids.includes(id)) onChange([...ids, id])
      }}
    />
  </Stack>
)

const Chosen = ({ id, onRemove }: { id: string; onRemove: () => void }) => {
  const { data } = useQuery(reading('getContact', { params: { contact_id: id } }))
  const name = data ? `${data.name}, ${data.phone_number}` : id
  return (
    <li>
      <Group gap="xs">
        <Text size="sm">{name}</Text>
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Remove ${name}`}
          onClick={onRemove}
        >
          Remove
        </Button>
      </Group>
    </li>
  )
}
