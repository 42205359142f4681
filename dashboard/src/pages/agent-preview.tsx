import { NativeSelect, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { atLeast } from '../../../src/contract/roles.ts'
import { reading } from '../client/queries.ts'
import { useMay } from '../client/session.ts'
import type { AgentCheck } from './use-agent-check.ts'

interface PreviewProps {
  readonly texts: AgentCheck['texts'] | undefined
  readonly contactId: string | undefined
  readonly onContact: (id: string | undefined) => void
}

/** Contacts to choose from; any other is chosen by `contact` in the address. */
const offeredContacts = '50'

/** The texts as one callee gets them. */
export const AgentPreview = ({ texts, contactId, onContact }: PreviewProps) => {
  const seesPeople = useMay(atLeast('operator'))
  const contacts = useQuery({
    ...reading('listContacts', { query: { limit: offeredContacts } }),
    enabled: seesPeople,
  })
  const offered = contacts.data?.data ?? []
  const isElsewhere = contactId !== undefined && !offered.some(({ id }) => id === contactId)
  return (
    <Stack component="section" aria-label="Preview" gap="xs">
      <NativeSelect
        label="Preview for"
        description="Fills {{contact.…}} in, as a call does."
        value={contactId ?? ''}
        disabled={!seesPeople}
        data={[
          { value: '', label: 'Ada Lovelace (a sample)' },
          ...(isElsewhere ? [{ value: contactId, label: `Contact ${contactId}` }] : []),
          ...offered.map(({ id, name, phone_number: number }) => ({
            value: id,
            label: name === number ? name : `${name}, ${number}`,
          })),
        ]}
        onChange={({ currentTarget: { value } }) => onContact(value === '' ? undefined : value)}
      />
      <Filled title="Said first" text={texts?.greeting} />
      <Filled title="Instructions" text={texts?.prompt} />
      {texts?.voicemail_message !== undefined && (
        <Filled title="Left at a voicemail" text={texts.voicemail_message} />
      )}
    </Stack>
  )
}

const Filled = ({ title, text }: { title: string; text: string | undefined }) => (
  <div>
    <Text size="sm" fw={600}>
      {title}
    </Text>
    <Text size="sm" className="filled">
      {text === undefined || text === '' ? 'Nothing is written yet.' : text}
    </Text>
  </div>
)
