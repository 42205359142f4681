import { Stack, Text } from '@mantine/core'
import { atLeast } from '../../../src/contract/roles.ts'
import { useMay } from '../client/session.ts'
import { ContactChoice } from '../parts/contact-choice.tsx'
import type { AgentCheck } from './use-agent-check.ts'

interface PreviewProps {
  readonly texts: AgentCheck['texts'] | undefined
  readonly contactId: string | undefined
  readonly onContact: (id: string | undefined) => void
}

/** The texts as one callee gets them. */
export const AgentPreview = ({ texts, contactId, onContact }: PreviewProps) => {
  const seesPeople = useMay(atLeast('operator'))
  return (
    <Stack component="section" aria-label="Preview" gap="xs">
      <ContactChoice
        label="Preview for"
        description="Fills {{contact.…}} in, as a call does."
        none="Ada Lovelace (a sample)"
        value={contactId ?? ''}
        disabled={!seesPeople}
        onChange={(id) => onContact(id === '' ? undefined : id)}
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
