import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { atLeast } from '../../../../src/contract/roles.ts'
import { reading } from '../../client/queries.ts'
import { useMay } from '../../client/session.ts'
import type { AnswerOf } from '../../client/table.ts'
import { AnchorLink } from '../../parts/anchor-link.tsx'
import { CopyText } from '../../parts/copy-text.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { Page } from '../../parts/page.tsx'
import { RecordList } from '../../parts/record-list.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'

type Automation = AnswerOf<'listAutomations'>['data'][number]

const statuses: readonly Automation['status'][] = ['draft', 'active', 'paused', 'archived']

export const Automations = () => {
  const search = useSearch({ from: '/shell/automations' })
  const navigate = useNavigate({ from: '/automations' })
  const { sort: _, ...query } = search
  const result = useQuery(reading('listAutomations', { query }))
  const mayCreate = useMay(atLeast('admin'))
  return (
    <Page
      title="Automations"
      purpose="Calls, waits and branches for one contact at a time. A run is one contact on this way."
      actions={
        <Button
          disabled={!mayCreate}
          title={mayCreate ? undefined : 'For administrators.'}
          onClick={() => void navigate({ to: '/automations/new' })}
        >
          Create Automation
        </Button>
      }
    >
      <RecordList
        label="Automations"
        columns={columns}
        result={result}
        keyOf={({ id }) => id}
        search={search}
        onSearch={(next) => void navigate({ search: next })}
        statuses={statuses}
        empty={{
          what: 'There is no Automation yet. One can be made here, or from a file:',
          command:
            './outdial automation publish --org ORG --file docs/examples/appointment-follow-up.json',
        }}
      />
    </Page>
  )
}

const columns: readonly Column<Automation>[] = [
  {
    name: 'Name',
    cell: ({ id, name }) => (
      <AnchorLink to="/automations/$automationId" params={{ automationId: id }}>
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
  { name: 'Description', cell: ({ description }) => description ?? '–' },
  {
    name: 'Runs',
    cell: ({ id, name }) => (
      <AnchorLink to="/runs" search={{ automation_id: id }} aria-label={`Runs of ${name}`}>
        Runs
      </AnchorLink>
    ),
  },
  { name: 'Id', cell: ({ id, name }) => <CopyText value={id} what={`id of ${name}`} isHidden /> },
]
