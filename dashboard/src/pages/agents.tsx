import { Button, Group, NativeSelect, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { atLeast } from '../../../src/contract/roles.ts'
import { reading } from '../client/queries.ts'
import { useMay } from '../client/session.ts'
import type { AnswerOf } from '../client/table.ts'
import { AnchorLink } from '../parts/anchor-link.tsx'
import { CopyText } from '../parts/copy-text.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { Instant } from '../parts/instant.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'

type Agent = AnswerOf<'listAgents'>['data'][number]

export const Agents = () => {
  const search = useSearch({ from: '/shell/agents' })
  const navigate = useNavigate({ from: '/agents' })
  const isArchive = search['state'] === 'archived'
  const state = isArchive ? 'archived' : 'current'
  const result = useQuery(reading('listAgents', { query: { state } }))
  const mayCreate = useMay(atLeast('admin'))
  return (
    <Page
      title="Agents"
      purpose="An agent is the party that speaks: its greeting, prompt, voice and tools."
      actions={
        <Button
          disabled={!mayCreate}
          title={mayCreate ? undefined : 'For administrators.'}
          onClick={() => void navigate({ to: '/agents/new' })}
        >
          Create agent
        </Button>
      }
    >
      <Group role="search" aria-label="Filters">
        <NativeSelect
          size="xs"
          label="Show"
          value={state}
          data={[
            { value: 'current', label: 'In use, and drafts' },
            { value: 'archived', label: 'Archived' },
          ]}
          onChange={({ currentTarget: { value } }) =>
            void navigate({
              search: { ...search, state: value === 'archived' ? value : undefined },
            })
          }
        />
      </Group>
      <Loaded result={result}>
        {({ data, truncated }) =>
          data.length === 0 ? (
            <Nothing isArchive={isArchive} />
          ) : (
            <>
              <DataTable
                label="Agents"
                columns={columns}
                rows={data}
                keyOf={({ id }) => id}
                sort={search['sort']}
                onSort={(sort) => void navigate({ search: { ...search, sort } })}
              />
              {truncated && <Text size="sm">The newest {data.length} are shown.</Text>}
            </>
          )
        }
      </Loaded>
    </Page>
  )
}

const Nothing = ({ isArchive }: { isArchive: boolean }) =>
  isArchive ? (
    <Empty what="No agent is archived." />
  ) : (
    <Empty
      what="There is no agent yet, so nothing can call. Create one here, or from a file:"
      command="./outdial agent create --org ORG --file docs/examples/agent.json"
    />
  )

const stateOf = ({ archived_at: archivedAt, version }: Agent): string => {
  if (archivedAt !== undefined) return 'archived'
  return version === 0 ? 'draft' : 'published'
}

const columns: readonly Column<Agent>[] = [
  {
    name: 'Name',
    cell: ({ id, name }) => (
      <AnchorLink to="/agents/$agentId" params={{ agentId: id }}>
        {name}
      </AnchorLink>
    ),
    sortBy: ({ name }) => name,
  },
  {
    name: 'State',
    cell: (agent) => <StatusBadge status={stateOf(agent)} />,
    sortBy: stateOf,
  },
  {
    name: 'Version',
    cell: ({ version }) => (version === 0 ? '–' : version),
    sortBy: ({ version }) => version,
  },
  {
    name: 'Draft saved',
    cell: ({ draft_saved_at: at }) => (at === undefined ? '–' : <Instant at={at} />),
    sortBy: ({ draft_saved_at: at }) => at,
  },
  { name: 'Description', cell: ({ description }) => description ?? '–' },
  { name: 'Language', cell: ({ language }) => language, sortBy: ({ language }) => language },
  {
    name: 'Changed',
    cell: ({ updated_at: at }) => <Instant at={at} />,
    sortBy: ({ updated_at: at }) => at,
  },
  { name: 'Id', cell: ({ id, name }) => <CopyText value={id} what={`id of ${name}`} isHidden /> },
]
