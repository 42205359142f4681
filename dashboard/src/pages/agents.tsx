import { Button } from '@mantine/core'
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

type Agent = AnswerOf<'listAgents'>['data'][number]

export const Agents = () => {
  const result = useQuery(reading('listAgents', {}))
  const { sort } = useSearch({ from: '/shell/agents' })
  const navigate = useNavigate({ from: '/agents' })
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
      <Loaded result={result}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty
              what="There is no agent yet, so nothing can call."
              command="./outdial agent create --org ORG --file docs/examples/agent.json"
            />
          ) : (
            <DataTable
              label="Agents"
              columns={columns}
              rows={data}
              keyOf={({ id }) => id}
              sort={sort}
              onSort={(next) => void navigate({ search: { sort: next } })}
            />
          )
        }
      </Loaded>
    </Page>
  )
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
  { name: 'Description', cell: ({ description }) => description ?? '–' },
  { name: 'Language', cell: ({ language }) => language, sortBy: ({ language }) => language },
  {
    name: 'Changed',
    cell: ({ updated_at: at }) => <Instant at={at} />,
    sortBy: ({ updated_at: at }) => at,
  },
  { name: 'Id', cell: ({ id, name }) => <CopyText value={id} what={`id of ${name}`} isHidden /> },
]
