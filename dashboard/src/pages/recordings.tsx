import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { reading } from '../client/queries.ts'
import type { AnswerOf } from '../client/table.ts'
import { AnchorLink } from '../parts/anchor-link.tsx'
import { CopyText } from '../parts/copy-text.tsx'
import type { Column } from '../parts/data-table.tsx'
import { formatLength, Instant } from '../parts/instant.tsx'
import { Page } from '../parts/page.tsx'
import { RecordList } from '../parts/record-list.tsx'

type Listed = AnswerOf<'listRecordings'>['data'][number]

export const Recordings = () => {
  const search = useSearch({ from: '/shell/recordings' })
  const navigate = useNavigate({ from: '/recordings' })
  const { sort: _, ...query } = search
  const result = useQuery(reading('listRecordings', { query }))
  return (
    <Page
      title="Recordings"
      purpose="Recordings of calls of every origin, newest first. They are heard on their call’s page."
    >
      <RecordList
        label="Recordings"
        columns={columns}
        result={result}
        keyOf={({ id }) => id}
        search={search}
        onSearch={(next) => void navigate({ search: next })}
        empty={{
          what: 'There is no recording yet: each answered call leaves one.',
          command: './outdial dial --org ORG --agent AGENT +12025550100 --follow',
        }}
      />
    </Page>
  )
}

const columns: readonly Column<Listed>[] = [
  {
    name: 'Contact',
    cell: ({ call_id: callId, contact_name: name }) =>
      callId === null ? (
        (name ?? '–')
      ) : (
        <AnchorLink to="/calls/$callId" params={{ callId }}>
          {name ?? callId}
        </AnchorLink>
      ),
    sortBy: ({ contact_name: name }) => name,
  },
  { name: 'Number', cell: ({ phone_number: number }) => number ?? '–' },
  {
    name: 'Agent',
    cell: ({ agent_name: name }) => name ?? '–',
    sortBy: ({ agent_name: name }) => name,
  },
  {
    name: 'Length',
    cell: ({ duration_seconds: seconds }) => (seconds === null ? '–' : formatLength(seconds)),
    sortBy: ({ duration_seconds: seconds }) => seconds ?? undefined,
  },
  {
    name: 'Size',
    cell: ({ size_bytes: bytes }) => (bytes === undefined ? '–' : `${Math.ceil(bytes / 1024)} kB`),
    sortBy: ({ size_bytes: bytes }) => bytes,
  },
  {
    name: 'Recorded',
    cell: ({ recorded_at: at }) => <Instant at={at} />,
    sortBy: ({ recorded_at: at }) => at,
  },
  { name: 'Id', cell: ({ id }) => <CopyText value={id} what="recording id" isHidden /> },
]
