import { Button, Group, NativeSelect, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { reading, useChange } from '../client/queries.ts'
import { send } from '../client/send.ts'
import type { AnswerOf } from '../client/table.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { Instant } from '../parts/instant.tsx'
import { saveText } from '../parts/save-text.ts'
import { Empty, Loaded } from '../parts/states.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { AgentDifferences } from './agent-differences.tsx'
import { fileNameOf, sourceOf } from './agent-file.ts'

type ShownAgent = AnswerOf<'getAgent'>
type Version = AnswerOf<'listAgentVersions'>['data'][number]

interface AgentVersionsProps {
  readonly agent: ShownAgent
  readonly mayChange: boolean
}

/** What was published, what differs between any two, and the way back. */
export const AgentVersions = ({ agent, mayChange }: AgentVersionsProps) => {
  const search = useSearch({ from: '/shell/agents/$agentId' })
  const navigate = useNavigate({ from: '/agents/$agentId' })
  const olderThan = search['older_than']
  const result = useQuery(
    reading('listAgentVersions', {
      params: { agent_id: agent.id },
      query: { before: olderThan },
    }),
  )
  return (
    <Loaded result={result}>
      {({ data, has_more: hasMore }) =>
        data.length === 0 ? (
          <Empty what="Nothing was published yet. The tab Edit has the draft; Publish makes version 1." />
        ) : (
          <Stack>
            <DataTable
              label="Versions"
              columns={columnsOf(agent, mayChange)}
              rows={data}
              keyOf={({ version }) => String(version)}
            />
            <Group gap="xs">
              {olderThan !== undefined && (
                <Button
                  size="compact-sm"
                  variant="default"
                  onClick={() => void navigate({ search: { ...search, older_than: undefined } })}
                >
                  Newest
                </Button>
              )}
              {hasMore && (
                <Button
                  size="compact-sm"
                  variant="default"
                  onClick={() =>
                    void navigate({
                      search: { ...search, older_than: String(data.at(-1)?.version) },
                    })
                  }
                >
                  Older
                </Button>
              )}
            </Group>
            <Comparison agent={agent} versions={data} />
          </Stack>
        )
      }
    </Loaded>
  )
}

const columnsOf = (agent: ShownAgent, mayChange: boolean): readonly Column<Version>[] => [
  { name: 'Version', cell: ({ version }) => version },
  { name: 'Name', cell: ({ name }) => name },
  { name: 'Published', cell: ({ published_at: at }) => <Instant at={at} /> },
  {
    name: 'Note',
    cell: ({ version, restored_version: restored }) => (
      <Group gap={4}>
        {version === agent.version && <StatusBadge status="published" />}
        {restored !== undefined && <Text size="sm">repeats version {restored}</Text>}
      </Group>
    ),
  },
  {
    name: 'Actions',
    cell: ({ version }) => <VersionActions agent={agent} version={version} mayChange={mayChange} />,
  },
]

const VersionActions = ({
  agent,
  version,
  mayChange,
}: AgentVersionsProps & { readonly version: number }) => {
  const rollBack = useChange('rollBackAgent')
  const params = { agent_id: agent.id, version: String(version) }
  const download = async (): Promise<void> => {
    const { definition } = await send('getAgentVersion', { params })
    saveText(fileNameOf(definition, version), sourceOf(definition), 'application/json')
  }
  return (
    <Group gap={4}>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`Download version ${version}`}
        onClick={() => void download()}
      >
        Download
      </Button>
      {version !== agent.version && agent.archived_at === undefined && (
        <ConfirmButton
          label="Roll back"
          accessibleName={`Roll back to version ${version}`}
          consequence={`Version ${version} is published again, as version ${agent.version + 1}. Calls that were accepted keep the version they have; a draft stays as it is.`}
          disabledBecause={mayChange ? undefined : 'For administrators.'}
          onConfirm={() =>
            rollBack.mutateAsync({ params, query: { base_version: String(agent.version) } })
          }
        />
      )}
    </Group>
  )
}

const Comparison = ({
  agent,
  versions,
}: {
  readonly agent: ShownAgent
  readonly versions: readonly Version[]
}) => {
  const search = useSearch({ from: '/shell/agents/$agentId' })
  const navigate = useNavigate({ from: '/agents/$agentId' })
  const newest = versions[0]?.version ?? agent.version
  const former = versions[1]?.version ?? newest
  const before = search['before'] ?? String(agent.draft ? newest : former)
  const after = search['after'] ?? (agent.draft ? 'draft' : String(newest))
  const listed = new Set(versions.map(({ version }) => String(version)))
  const sides = [
    ...(agent.draft ? [{ value: 'draft', label: 'Draft' }] : []),
    ...[before, after]
      .filter(
        (side, at, both) => side !== 'draft' && !listed.has(side) && both.indexOf(side) === at,
      )
      .map((side) => ({ value: side, label: `Version ${side}` })),
    ...versions.map(({ version }) => ({ value: String(version), label: `Version ${version}` })),
  ]
  const choose = (side: 'before' | 'after', value: string) =>
    void navigate({ search: { ...search, before, after, [side]: value }, replace: true })
  return (
    <Stack component="section" aria-labelledby="differences" gap="xs">
      <Title order={2} size="h4" id="differences">
        Differences
      </Title>
      <Group gap="xs" align="flex-end">
        <NativeSelect
          label="From"
          value={before}
          data={sides}
          onChange={({ currentTarget }) => choose('before', currentTarget.value)}
        />
        <NativeSelect
          label="To"
          value={after}
          data={sides}
          onChange={({ currentTarget }) => choose('after', currentTarget.value)}
        />
      </Group>
      <AgentDifferences agentId={agent.id} before={before} after={after} />
    </Stack>
  )
}
