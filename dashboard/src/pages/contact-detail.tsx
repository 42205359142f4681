import { Alert, Badge, Button, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { atLeast } from '../../../src/contract/roles.ts'
import { reading, useChange } from '../client/queries.ts'
import { send } from '../client/send.ts'
import { useMay } from '../client/session.ts'
import type { AnswerOf } from '../client/table.ts'
import { AnchorLink } from '../parts/anchor-link.tsx'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { CopyText } from '../parts/copy-text.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { problemOf, valuesOf } from '../parts/fields.ts'
import { formatLength, Instant } from '../parts/instant.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, Failure, Loaded } from '../parts/states.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'

type Contact = AnswerOf<'getContact'>
type Receipt = AnswerOf<'eraseContact'>
type Call = AnswerOf<'listCalls'>['data'][number]

const forOperators = 'For operators and administrators.'

export const ContactPage = () => {
  const { contactId } = useParams({ from: '/shell/contacts/$contactId' })
  const params = { contact_id: contactId }
  // Nothing is asked for again afterwards: the contact is gone, and the receipt stays.
  const erase = useMutation({ mutationFn: () => send('eraseContact', { params }) })
  const result = useQuery({
    ...reading('getContact', { params }),
    enabled: erase.data === undefined,
  })
  if (erase.data) return <Erased receipt={erase.data} />
  return (
    <Loaded result={result}>
      {(contact) => (
        <Page
          title={contact.name}
          purpose={[contact.phone_number, ...contact.time_zones.slice(0, 3)].join(' · ')}
          actions={<ContactActions contact={contact} onErase={() => erase.mutateAsync()} />}
        >
          {contact.is_blocked && (
            <Group>
              <Badge color="red.9" tt="none" autoContrast={false}>
                do not call
              </Badge>
            </Group>
          )}
          <EditContact key={contact.updated_at} contact={contact} />
          <History contactId={contact.id} />
        </Page>
      )}
    </Loaded>
  )
}

const Erased = ({ receipt }: { receipt: Receipt }) => (
  <Page title="Contact erased" purpose="Keep this receipt: the person is gone from this page.">
    <Alert role="status" variant="outline" color="teal" title="Receipt">
      <Stack gap="xs">
        <Text size="sm">
          Contact <CopyText value={receipt.contact_id} what="id of the erased contact" />
        </Text>
        <Text size="sm">
          Erased <Instant at={receipt.erased_at} /> by {receipt.erased_by}. {receipt.calls} calls
          keep only their facts, {receipt.recordings} recordings are gone for everybody.
        </Text>
        <Text size="sm">
          Bytes of recordings are deleted within ten minutes. The do-not-call list is unchanged.
          Backups made before still hold this person.
        </Text>
      </Stack>
    </Alert>
    <AnchorLink to="/contacts">Back to the contacts</AnchorLink>
  </Page>
)

const ContactActions = ({
  contact,
  onErase,
}: {
  contact: Contact
  onErase: () => Promise<unknown>
}) => {
  const block = useChange('setDoNotCall')
  const mayBlock = useMay(atLeast('operator'))
  const mayErase = useMay(atLeast('admin'))
  return (
    <>
      {block.error && <Failure error={block.error} />}
      <CopyText value={contact.id} what="contact id" isHidden />
      <Button
        size="compact-sm"
        variant="default"
        disabled={!mayBlock}
        title={mayBlock ? undefined : forOperators}
        loading={block.isPending}
        onClick={() =>
          block.mutate({
            params: { contact_id: contact.id },
            body: { is_blocked: !contact.is_blocked },
          })
        }
      >
        {contact.is_blocked ? 'Allow calls again' : 'Do not call'}
      </Button>
      <ConfirmButton
        label="Erase"
        accessibleName="Erase the contact"
        consequence="Contact, recordings, transcripts, summaries and number are deleted for good. Calls keep only their facts."
        disabledBecause={mayErase ? undefined : 'For administrators and owners.'}
        onConfirm={onErase}
      />
    </>
  )
}

const fields = ['name', 'phone_number', 'email', 'company', 'role', 'city', 'country'] as const

const labels: Readonly<Record<(typeof fields)[number], string>> = {
  name: 'Name',
  phone_number: 'Number',
  email: 'Email',
  company: 'Company',
  role: 'Role',
  city: 'City',
  country: 'Country',
}

const EditContact = ({ contact }: { contact: Contact }) => {
  const change = useChange('changeContact')
  const mayEdit = useMay(atLeast('operator'))
  return (
    <form
      aria-label="Fields"
      onSubmit={(event) => {
        event.preventDefault()
        const values = valuesOf(event.currentTarget, ...fields)
        const changed = fields.filter((field) => values[field] !== (contact[field] ?? ''))
        change.mutate({
          params: { contact_id: contact.id },
          body: Object.fromEntries(changed.map((field) => [field, values[field]])),
        })
      }}
    >
      <Stack maw="32rem" gap="xs">
        {change.error && <Failure error={change.error} />}
        {fields.map((field) => (
          <TextInput
            key={field}
            label={labels[field]}
            name={field}
            defaultValue={contact[field] ?? ''}
            readOnly={!mayEdit}
            error={problemOf(change.error, field)}
          />
        ))}
        <Text size="sm">
          Source {contact.source ?? '–'}, external id {contact.external_id ?? '–'}: the identity
          that programs gave it.
        </Text>
        <Group>
          <Button
            type="submit"
            disabled={!mayEdit}
            title={mayEdit ? undefined : forOperators}
            loading={change.isPending}
          >
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

const History = ({ contactId }: { contactId: string }) => {
  const result = useQuery(reading('listCalls', { query: { contact_id: contactId } }))
  return (
    <Stack component="section" aria-labelledby="history" gap="xs">
      <Title order={2} size="h4" id="history">
        Calls
      </Title>
      <Loaded result={result}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty what="This contact was not called yet." />
          ) : (
            <DataTable label="Calls" columns={callColumns} rows={data} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
    </Stack>
  )
}

const callColumns: readonly Column<Call>[] = [
  {
    name: 'Queued',
    cell: ({ id, queued_at: at }) => (
      <AnchorLink to="/calls/$callId" params={{ callId: id }}>
        <Instant at={at} />
      </AnchorLink>
    ),
  },
  { name: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { name: 'Agent', cell: ({ agent_name: name, agent_id: id }) => name ?? id },
  { name: 'Answer', cell: ({ answer_status: answer }) => answer?.replaceAll('_', ' ') ?? '–' },
  { name: 'Outcome', cell: ({ outcome }) => outcome?.replaceAll('_', ' ') ?? '–' },
  {
    name: 'Length',
    cell: ({ duration_seconds: seconds }) => (seconds === undefined ? '–' : formatLength(seconds)),
  },
]
