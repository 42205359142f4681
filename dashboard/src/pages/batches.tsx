import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { atLeast } from '../../../src/contract/roles.ts'
import { batchStatuses } from '../../../src/contract/states.ts'
import { reading } from '../client/queries.ts'
import { useMay } from '../client/session.ts'
import type { AnswerOf } from '../client/table.ts'
import { AnchorLink } from '../parts/anchor-link.tsx'
import { CopyText } from '../parts/copy-text.tsx'
import type { Column } from '../parts/data-table.tsx'
import { Instant } from '../parts/instant.tsx'
import { Page } from '../parts/page.tsx'
import { RecordList } from '../parts/record-list.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'

type Batch = AnswerOf<'listBatches'>['data'][number]

/** Counters change by themselves. */
const refreshMs = 5_000

export const Batches = () => {
  const search = useSearch({ from: '/shell/batches' })
  const navigate = useNavigate({ from: '/batches' })
  const mayCreate = useMay(atLeast('operator'))
  const query = {
    cursor: search['cursor'],
    status: batchStatuses.find((each) => each === search['status']),
  }
  const result = useQuery({ ...reading('listBatches', { query }), refetchInterval: refreshMs })
  return (
    <Page
      title="Batches"
      purpose="One agent calls many contacts, newest first."
      actions={
        <Button
          disabled={!mayCreate}
          title={mayCreate ? undefined : 'For operators and administrators.'}
          onClick={() => void navigate({ to: '/batches/new' })}
        >
          New batch
        </Button>
      }
    >
      <RecordList
        label="Batches"
        columns={columns}
        result={result}
        keyOf={({ id }) => id}
        search={search}
        onSearch={(next) => void navigate({ search: next })}
        statuses={batchStatuses}
        empty={{
          what: 'There is no batch yet.',
          command: './outdial batch run people.csv --agent AGENT --watch',
        }}
      />
    </Page>
  )
}

const endedOf = (batch: Batch): number =>
  batch.completed_recipients + batch.failed_recipients + batch.cancelled_recipients

const columns: readonly Column<Batch>[] = [
  {
    name: 'Name',
    cell: ({ id, name }) => (
      <AnchorLink to="/batches/$batchId" params={{ batchId: id }}>
        {name}
      </AnchorLink>
    ),
    sortBy: ({ name }) => name,
  },
  {
    name: 'Status',
    cell: ({ status }) => <StatusBadge status={status} />,
    sortBy: ({ status }) => status,
  },
  {
    name: 'Ended',
    cell: (batch) => `${endedOf(batch)} of ${batch.total_recipients}`,
    sortBy: endedOf,
  },
  {
    name: 'Answered',
    cell: ({ answered_recipients: answered }) => answered,
    sortBy: ({ answered_recipients: answered }) => answered,
  },
  {
    name: 'Failed',
    cell: ({ failed_recipients: failed }) => failed,
    sortBy: ({ failed_recipients: failed }) => failed,
  },
  { name: 'Starts', cell: ({ scheduled_start_at: at }) => <Instant at={at} /> },
  {
    name: 'Made',
    cell: ({ created_at: at }) => <Instant at={at} />,
    sortBy: ({ created_at: at }) => at,
  },
  { name: 'Id', cell: ({ id, name }) => <CopyText value={id} what={`id of ${name}`} isHidden /> },
]
