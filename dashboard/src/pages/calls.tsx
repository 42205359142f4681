import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { callStatuses } from '../../../src/contract/states.ts'
import { pollMs } from '../client/changes.ts'
import { reading } from '../client/queries.ts'
import type { AnswerOf, InputOf } from '../client/table.ts'
import { AnchorLink } from '../parts/anchor-link.tsx'
import { CopyText } from '../parts/copy-text.tsx'
import type { Column } from '../parts/data-table.tsx'
import { formatLength, Instant } from '../parts/instant.tsx'
import { Page } from '../parts/page.tsx'
import { RecordList } from '../parts/record-list.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'

type ListedCall = AnswerOf<'listCalls'>['data'][number]
type Query = NonNullable<InputOf<'listCalls'>['query']>

/** What changes by itself is asked for again. */
const refreshMs = 5_000

export const Calls = () => {
  const search = useSearch({ from: '/shell/calls' })
  const navigate = useNavigate({ from: '/calls' })
  const { sort: _, status, ...others } = search
  const query: Query = { ...others, status: callStatuses.find((each) => each === status) }
  const result = useQuery({
    ...reading('listCalls', { query }),
    refetchInterval: () => pollMs(refreshMs),
  })
  return (
    <Page title="Calls" purpose="Calls of every origin, newest first.">
      <RecordList
        label="Calls"
        columns={columns}
        result={result}
        keyOf={({ id }) => id}
        search={search}
        onSearch={(next) => void navigate({ search: next })}
        statuses={callStatuses}
        empty={{
          what: 'Nobody was called yet.',
          command: './outdial dial --org ORG --agent AGENT +12025550100 --follow',
        }}
      />
    </Page>
  )
}

const columns: readonly Column<ListedCall>[] = [
  {
    name: 'Contact',
    cell: ({ id, contact_name: name, contact_id: contactId }) => (
      <AnchorLink to="/calls/$callId" params={{ callId: id }}>
        {name ?? contactId}
      </AnchorLink>
    ),
    sortBy: ({ contact_name: name }) => name,
  },
  { name: 'Number', cell: ({ phone_number: number }) => number ?? '–' },
  {
    name: 'Status',
    cell: ({ status }) => <StatusBadge status={status} />,
    sortBy: ({ status }) => status,
  },
  { name: 'Waits for', cell: ({ waits_for: reason }) => reason?.replaceAll('_', ' ') ?? '–' },
  {
    name: 'Agent',
    cell: ({ agent_name: name, agent_id: id }) => name ?? id,
    sortBy: ({ agent_name: name }) => name,
  },
  { name: 'Answer', cell: ({ answer_status: answer }) => answer?.replaceAll('_', ' ') ?? '–' },
  { name: 'Outcome', cell: ({ outcome }) => outcome?.replaceAll('_', ' ') ?? '–' },
  {
    name: 'Length',
    cell: ({ duration_seconds: seconds }) => (seconds === undefined ? '–' : formatLength(seconds)),
    sortBy: ({ duration_seconds: seconds }) => seconds,
  },
  {
    name: 'Queued',
    cell: ({ queued_at: at }) => <Instant at={at} />,
    sortBy: ({ queued_at: at }) => at,
  },
  { name: 'Id', cell: ({ id }) => <CopyText value={id} what="call id" isHidden /> },
]
