import { Button, Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { atLeast } from '../../../src/contract/roles.ts'
import { reading } from '../client/queries.ts'
import { useMay } from '../client/session.ts'
import type { AnswerOf } from '../client/table.ts'
import { AnchorLink } from '../parts/anchor-link.tsx'
import { CopyText } from '../parts/copy-text.tsx'
import type { Column } from '../parts/data-table.tsx'
import { Instant } from '../parts/instant.tsx'
import { Page } from '../parts/page.tsx'
import { RecordList } from '../parts/record-list.tsx'

type Contact = AnswerOf<'listContacts'>['data'][number]

export const Contacts = () => {
  const search = useSearch({ from: '/shell/contacts' })
  const navigate = useNavigate({ from: '/contacts' })
  const { cursor, selected } = search
  const query = { cursor }
  const chosen = selected === undefined ? [] : selected.split(',')
  const mayChange = useMay(atLeast('operator'))
  const why = mayChange ? undefined : 'For operators and administrators.'
  const choose = (id: string, isChosen: boolean): void => {
    const ids = isChosen ? [...chosen, id] : chosen.filter((each) => each !== id)
    void navigate({ search: { ...search, selected: ids.length === 0 ? undefined : ids.join(',') } })
  }
  const result = useQuery(reading('listContacts', { query }))
  return (
    <Page
      title="Contacts"
      purpose="People your organization may call, newest first."
      actions={
        <>
          <Button
            variant="default"
            disabled={!mayChange}
            title={why}
            onClick={() => void navigate({ to: '/contacts/import', search: {} })}
          >
            Import a file
          </Button>
          <Button
            disabled={!mayChange || chosen.length === 0}
            title={why ?? (chosen.length === 0 ? 'Select contacts first.' : undefined)}
            onClick={() =>
              void navigate({ to: '/batches/new', search: { contacts: chosen.join(',') } })
            }
          >
            {chosen.length === 0 ? 'New batch' : `New batch of ${chosen.length}`}
          </Button>
        </>
      }
    >
      <RecordList
        label="Contacts"
        columns={[selectColumn(chosen, choose), ...columns]}
        result={result}
        keyOf={({ id }) => id}
        search={search}
        onSearch={(next) => void navigate({ search: next })}
        empty={{
          what: 'There is no contact yet. Programs make them:',
          command: `curl -s "$API/contacts" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"external_id": "crm-1842", "name": "Ada Lovelace", "phone_number": "+12025550100"}'`,
        }}
      />
    </Page>
  )
}

/** A batch of more contacts than an address can name is made from a file. */
const maxChosen = 100

const selectColumn = (
  chosen: readonly string[],
  choose: (id: string, isChosen: boolean) => void,
): Column<Contact> => ({
  name: 'Select',
  cell: ({ id, name }) => (
    <Checkbox
      size="xs"
      aria-label={`Select ${name}`}
      checked={chosen.includes(id)}
      disabled={!chosen.includes(id) && chosen.length >= maxChosen}
      onChange={({ currentTarget }) => choose(id, currentTarget.checked)}
    />
  ),
})

const columns: readonly Column<Contact>[] = [
  {
    name: 'Name',
    cell: ({ id, name }) => (
      <AnchorLink to="/contacts/$contactId" params={{ contactId: id }}>
        {name}
      </AnchorLink>
    ),
    sortBy: ({ name }) => name,
  },
  {
    name: 'Number',
    cell: ({ phone_number: number }) => number,
    sortBy: ({ phone_number: n }) => n,
  },
  { name: 'Company', cell: ({ company }) => company ?? '–', sortBy: ({ company }) => company },
  { name: 'Email', cell: ({ email }) => email ?? '–' },
  { name: 'Source', cell: ({ source }) => source ?? '–' },
  { name: 'External id', cell: ({ external_id: id }) => id ?? '–' },
  {
    name: 'Made',
    cell: ({ created_at: at }) => <Instant at={at} />,
    sortBy: ({ created_at: at }) => at,
  },
  { name: 'Id', cell: ({ id, name }) => <CopyText value={id} what={`id of ${name}`} isHidden /> },
]
