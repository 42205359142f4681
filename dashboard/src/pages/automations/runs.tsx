import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { reading } from '../../client/queries.ts'
import type { AnswerOf, InputOf } from '../../client/table.ts'
import { AnchorLink } from '../../parts/anchor-link.tsx'
import { CopyText } from '../../parts/copy-text.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { Instant } from '../../parts/instant.tsx'
import { Page } from '../../parts/page.tsx'
import { RecordList } from '../../parts/record-list.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { RunFilters } from './run-filters.tsx'

type ListedRun = AnswerOf<'listRuns'>['data'][number]
type Query = NonNullable<InputOf<'listRuns'>['query']>

const statuses: readonly ListedRun['status'][] = [
  'queued',
  'running',
  'waiting',
  'completed',
  'failed',
  'cancelled',
]

/** What changes by itself is asked for again. */
const refreshMs = 5_000

export const Runs = () => {
  const search = useSearch({ from: '/shell/runs' })
  const navigate = useNavigate({ from: '/runs' })
  const { sort: _, status, ...others } = search
  const query: Query = { ...others, status: statuses.find((each) => each === status) }
  const result = useQuery({ ...reading('listRuns', { query }), refetchInterval: refreshMs })
  return (
    <Page title="Runs" purpose="Contacts on their way through Automations, newest first.">
      <RecordList
        label="Runs"
        columns={columns}
        result={result}
        keyOf={({ id }) => id}
        search={search}
        onSearch={(next) => void navigate({ search: next })}
        statuses={statuses}
        furtherFilters={
          <RunFilters
            key={search['contact_id']}
            search={search}
            onSearch={(next) => void navigate({ search: next })}
          />
        }
        empty={{
          what: 'No Automation was run yet. An Automation’s page has the button Run, and programs:',
          command: `curl -s "$API/automation-runs" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -H "Idempotency-Key: $(uuidgen)" -d '{"automation_id": "AUTOMATION", "contact_id": "CONTACT"}'`,
        }}
      />
    </Page>
  )
}

const columns: readonly Column<ListedRun>[] = [
  {
    name: 'Contact',
    cell: ({ id, contact_name: name, contact_id: contactId }) => (
      <AnchorLink to="/runs/$runId" params={{ runId: id }}>
        {name ?? contactId}
      </AnchorLink>
    ),
    sortBy: ({ contact_name: name }) => name,
  },
  {
    name: 'Status',
    cell: ({ status }) => <StatusBadge status={status} />,
    sortBy: ({ status }) => status,
  },
  {
    name: 'Automation',
    cell: ({ automation_id: id, automation_name: name }) => (
      <AnchorLink to="/automations/$automationId" params={{ automationId: id }}>
        {name ?? id}
      </AnchorLink>
    ),
    sortBy: ({ automation_name: name }) => name,
  },
  { name: 'Step', cell: ({ step }) => step ?? '–', sortBy: ({ step }) => step },
  { name: 'Until', cell: ({ due_at: at }) => <Instant at={at} />, sortBy: ({ due_at: at }) => at },
  { name: 'Failure', cell: ({ failure_code: code }) => code?.replaceAll('_', ' ') ?? '–' },
  {
    name: 'Queued',
    cell: ({ queued_at: at }) => <Instant at={at} />,
    sortBy: ({ queued_at: at }) => at,
  },
  { name: 'Id', cell: ({ id }) => <CopyText value={id} what="run id" isHidden /> },
]
