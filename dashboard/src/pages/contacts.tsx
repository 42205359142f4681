import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { reading } from '../client/queries.ts'
import type { AnswerOf } from '../client/table.ts'
import { CopyText } from '../parts/copy-text.tsx'
import type { Column } from '../parts/data-table.tsx'
import { Instant } from '../parts/instant.tsx'
import { Page } from '../parts/page.tsx'
import { RecordList } from '../parts/record-list.tsx'

type Contact = AnswerOf<'listContacts'>['data'][number]

export const Contacts = () => {
  const search = useSearch({ from: '/shell/contacts' })
  const navigate = useNavigate({ from: '/contacts' })
  const { sort: _, ...query } = search
  const result = useQuery(reading('listContacts', { query }))
  return (
    <Page title="Contacts" purpose="People your organization may call, newest first.">
      <RecordList
        label="Contacts"
        columns={columns}
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

const columns: readonly Column<Contact>[] = [
  { name: 'Name', cell: ({ name }) => name, sortBy: ({ name }) => name },
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
