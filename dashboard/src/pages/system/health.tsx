import { Badge, Button, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { reading, refreshedUntil } from '../../client/queries.ts'
import { useSession } from '../../client/session.ts'
import type { AnswerOf } from '../../client/table.ts'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { Instant } from '../../parts/instant.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'

type Health = AnswerOf<'getHealth'>

const refreshMs = 5_000

/** What the installation is at, for the account that administers it. */
export const HealthPage = () => {
  const { account } = useSession()
  return (
    <Page
      title="System health"
      purpose="What the doctor finds, the nodes, trunks, queue and database of the whole installation."
    >
      {account.administers_installation ? (
        <Look />
      ) : (
        <Empty
          what="This is for the account that administers the installation: its first owner. On the machine itself the doctor shows the same."
          command="./outdial doctor"
        />
      )}
    </Page>
  )
}

const Look = () => {
  const result = useQuery({
    ...reading('getHealth', {}),
    refetchInterval: refreshedUntil(() => false, refreshMs),
  })
  return (
    <Loaded result={result}>
      {(health) => (
        <>
          <Findings health={health} onRefresh={() => void result.refetch()} />
          <Section id="nodes" title="Nodes">
            <DataTable
              label="Nodes"
              columns={nodeColumns}
              rows={health.nodes}
              keyOf={({ name, started_at: at }) => `${name} ${at}`}
            />
          </Section>
          <Section id="trunks" title="Trunks">
            {health.trunks.length === 0 ? (
              <Text size="sm">
                No trunk is configured: ./outdial trunk add NAME, or OUTDIAL_SIP_TRUNK.
              </Text>
            ) : (
              <DataTable
                label="Trunks"
                columns={trunkColumns}
                rows={health.trunks}
                keyOf={({ name, gateway }) => `${name} ${gateway}`}
              />
            )}
          </Section>
          <Figures health={health} />
        </>
      )}
    </Loaded>
  )
}

const Section = ({ id, title, children }: { id: string; title: string; children: ReactNode }) => (
  <Stack component="section" aria-labelledby={id} gap="xs">
    <Title order={2} size="h4" id={id}>
      {title}
    </Title>
    {children}
  </Stack>
)

const severity = { failed: 0, warning: 1, ok: 2 } as const
const findingColors = { failed: 'red.9', warning: '#7a4b00', ok: 'teal.9' } as const

const Findings = ({ health, onRefresh }: { health: Health; onRefresh: () => void }) => {
  const { findings, examined_at: at } = health
  const bad = findings.filter(({ status }) => status !== 'ok').length
  return (
    <Section id="findings" title="Findings of the doctor">
      <Text size="sm" role="status">
        {bad === 0 ? 'Nothing is wrong.' : `${bad} of ${findings.length} need a look.`} Checked{' '}
        <Instant at={at} />; every 30 seconds at most.{' '}
        <Button size="compact-xs" variant="default" onClick={onRefresh}>
          Look again
        </Button>
      </Text>
      <DataTable
        label="Findings"
        columns={findingColumns}
        rows={findings.toSorted((a, b) => severity[a.status] - severity[b.status])}
        keyOf={({ check, message }) => `${check} ${message}`}
      />
    </Section>
  )
}

const findingColumns: readonly Column<Health['findings'][number]>[] = [
  {
    name: 'Status',
    cell: ({ status }) => (
      <Badge color={findingColors[status]} variant="filled" tt="none" autoContrast={false}>
        {status}
      </Badge>
    ),
  },
  { name: 'Check', cell: ({ check }) => check },
  {
    name: 'Finding',
    cell: ({ message }) => (
      <Text size="sm" miw="14rem" style={{ overflowWrap: 'anywhere' }}>
        {message}
      </Text>
    ),
  },
]

const nodeColumns: readonly Column<Health['nodes'][number]>[] = [
  { name: 'Node', cell: ({ name }) => name },
  { name: 'State', cell: ({ state }) => <StatusBadge status={state} /> },
  {
    name: 'Serves',
    cell: ({ routes, lacks }) =>
      `${routes.join(', ') || 'nothing'}${lacks.length === 0 ? '' : `; live calls wait for it: ${lacks.join(', ').replaceAll('_', ' ')}`}`,
  },
  { name: 'Calls', cell: ({ live_calls: live, max_calls: most }) => `${live} of ${most}` },
  {
    name: 'Lease',
    cell: ({ lease_seconds: seconds }) =>
      seconds < 0 ? `lapsed ${Math.round(-seconds)} s ago` : `${Math.round(seconds)} s left`,
  },
  { name: 'Since', cell: ({ started_at: at }) => <Instant at={at} /> },
]

const trunkColumns: readonly Column<Health['trunks'][number]>[] = [
  { name: 'Trunk', cell: ({ name, paused }) => (paused ? `${name} (paused)` : name) },
  { name: 'Gateway', cell: ({ gateway }) => gateway },
  {
    name: 'Circuit',
    cell: ({ circuit }) =>
      circuit === 'open' ? <StatusBadge status="failed" /> : 'closed: calls pass',
  },
  {
    name: 'Calls',
    cell: ({ live_calls: live, max_calls: most }) => (most === null ? live : `${live} of ${most}`),
  },
  { name: 'Reason', cell: ({ reason }) => reason ?? '–' },
  { name: 'Down since', cell: ({ down_since: at }) => <Instant at={at ?? undefined} /> },
  { name: 'Tried again', cell: ({ retry_at: at }) => <Instant at={at ?? undefined} /> },
]

const Figures = ({ health: { queue, database } }: { health: Health }) => (
  <Section id="figures" title="Queue and database">
    <DataTable
      label="Queue and database"
      columns={figureColumns}
      rows={[
        [
          'Calls that wait',
          `${queue.calls}${queue.calls >= queue.counted_up_to ? ' or more' : ''}`,
        ],
        ['Oldest of them', <Instant key="oldest" at={queue.oldest_queued_at ?? undefined} />],
        ['Jobs that are due', String(queue.jobs)],
        ['Database', `${(database.size_bytes / 1024 ** 2).toFixed(1)} MiB`],
        ['Connections', `${database.connections} of ${database.max_connections}`],
        ['Migrated to', database.level],
      ]}
      keyOf={([name]) => String(name)}
    />
  </Section>
)

const figureColumns: readonly Column<readonly [string, ReactNode]>[] = [
  { name: 'What', cell: ([name]) => name },
  { name: 'Now', cell: ([, value]) => value },
]
