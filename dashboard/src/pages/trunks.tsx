import { Button, Group, Modal, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { reading, refreshedUntil, useChange } from '../client/queries.ts'
import { useSession } from '../client/session.ts'
import type { AnswerOf } from '../client/table.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { Instant } from '../parts/instant.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, Failure, Loaded } from '../parts/states.tsx'
import { TrunkForm } from './trunk-form.tsx'

export type Trunk = AnswerOf<'listTrunks'>['data'][number]

const refreshMs = 5_000

/** The ways to the telephone network, for the account that administers the installation. */
export const Trunks = () => {
  const { account } = useSession()
  const [edited, setEdited] = useState<Trunk | 'new'>()
  const mayOpen = account.administers_installation
  return (
    <Page
      title="Telephony"
      purpose="The trunks of the whole installation, and how their gateways are. A change acts within a second, and live calls go on."
      actions={mayOpen && <Button onClick={() => setEdited('new')}>Add trunk</Button>}
    >
      {mayOpen ? (
        <TrunkList onEdit={setEdited} />
      ) : (
        <Empty
          what="This is for the account that administers the installation: its first owner. On the machine itself a command shows the same."
          command="./outdial trunk list"
        />
      )}
      <Modal
        opened={edited !== undefined}
        onClose={() => setEdited(undefined)}
        title={edited === 'new' ? 'Add trunk' : `Change ${edited?.name ?? ''}`}
        size="lg"
      >
        {edited !== undefined && (
          <TrunkForm
            trunk={edited === 'new' ? undefined : edited}
            onDone={() => setEdited(undefined)}
          />
        )}
      </Modal>
    </Page>
  )
}

const TrunkList = ({ onEdit }: { onEdit: (trunk: Trunk) => void }) => {
  const result = useQuery({
    ...reading('listTrunks', {}),
    refetchInterval: refreshedUntil(() => false, refreshMs),
  })
  const columns: readonly Column<Trunk>[] = [
    ...trunkColumns,
    { name: 'Actions', cell: (trunk) => <TrunkActions trunk={trunk} onEdit={onEdit} /> },
  ]
  return (
    <Loaded result={result}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty
            what="There is no trunk yet: calls of live organizations wait until one is added, here or by the command."
            command="./outdial trunk add NAME --uri sip:HOST"
          />
        ) : (
          <>
            <DataTable label="Trunks" columns={columns} rows={data} keyOf={({ name }) => name} />
            <Title order={2} size="h4">
              Gateways
            </Title>
            <DataTable
              label="Gateways"
              columns={gatewayColumns}
              rows={data.flatMap(gatewaysOf)}
              keyOf={({ trunk, uri }) => `${trunk} ${uri}`}
            />
          </>
        )
      }
    </Loaded>
  )
}

const trunkColumns: readonly Column<Trunk>[] = [
  {
    name: 'Name',
    cell: ({ name, source }) => (source === 'env' ? `${name} (OUTDIAL_SIP_TRUNK)` : name),
  },
  {
    name: 'State',
    cell: ({ state, reason }) => (
      <Stack gap={2}>
        <Text size="sm">{state}</Text>
        {reason !== null && <Text size="xs">{reason}</Text>}
      </Stack>
    ),
  },
  { name: 'Priority', cell: ({ priority }) => priority },
  {
    name: 'Calls',
    cell: ({ live_calls: live, channels }) =>
      channels === null ? `${live}, no limit` : `${live} of ${channels}`,
  },
  { name: 'Calls per second', cell: paceText },
  { name: 'Registration', cell: registrationText },
]

function paceText({ cps, paced_cps: paced }: Trunk): string {
  return paced === null
    ? String(cps)
    : `${Math.round(paced * 100) / 100} of ${cps}: the carrier is congested`
}

function registrationText({ register, registrations }: Trunk): string {
  if (!register) return 'not needed'
  const done = registrations.filter(({ state }) => state === 'registered').length
  const failed = registrations.find(({ state }) => state === 'failed')
  const share = `${done} of ${registrations.length} registered`
  return failed === undefined ? share : `${share}: ${failed.reason ?? 'refused'}`
}

type Gateway = Trunk['gateways'][number] & { readonly trunk: string }

const gatewaysOf = ({ name, gateways }: Trunk): Gateway[] =>
  gateways.map((gateway) => ({ ...gateway, trunk: name }))

const gatewayColumns: readonly Column<Gateway>[] = [
  { name: 'Trunk', cell: ({ trunk }) => trunk },
  { name: 'Gateway', cell: ({ uri }) => uri },
  {
    name: 'Circuit',
    cell: ({ state }) => (state === 'up' ? 'closed' : state === 'trial' ? 'on trial' : 'open'),
  },
  {
    name: 'Since',
    cell: ({ down_since: at }) => (at === null ? '' : <Instant at={at} />),
  },
  {
    name: 'Tried again',
    cell: ({ retry_at: at }) => (at === null ? '' : <Instant at={at} />),
  },
  { name: 'Reason', cell: ({ reason }) => reason ?? '' },
]

const TrunkActions = ({ trunk, onEdit }: { trunk: Trunk; onEdit: (trunk: Trunk) => void }) => {
  const pause = useChange('setTrunkPaused')
  const remove = useChange('removeTrunk')
  const { name, paused, source } = trunk
  const [isTesting, setTesting] = useState(false)
  return (
    <Stack gap={4}>
      <Group gap="xs" wrap="nowrap">
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Test ${name}`}
          onClick={() => setTesting(true)}
        >
          Test
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`${paused ? 'Resume' : 'Pause'} ${name}`}
          loading={pause.isPending}
          onClick={() => pause.mutate({ params: { trunk: name }, body: { paused: !paused } })}
        >
          {paused ? 'Resume' : 'Pause'}
        </Button>
        {source === 'database' && (
          <>
            <Button
              size="compact-sm"
              variant="default"
              aria-label={`Edit ${name}`}
              onClick={() => onEdit(trunk)}
            >
              Edit
            </Button>
            <ConfirmButton
              label="Remove"
              accessibleName={`Remove ${name}`}
              consequence="No new call goes by it; live ones go on to their end."
              onConfirm={() => remove.mutateAsync({ params: { trunk: name }, body: {} })}
            />
          </>
        )}
      </Group>
      {pause.error && <Failure error={pause.error} />}
      <Modal
        opened={isTesting}
        onClose={() => setTesting(false)}
        title={`Test of ${name}`}
        size="lg"
      >
        {isTesting && <TestResult name={name} />}
      </Modal>
    </Stack>
  )
}

/** Asked anew whenever it is opened. */
const TestResult = ({ name }: { name: string }) => {
  const result = useQuery({
    ...reading('testTrunk', { params: { trunk: name } }),
    gcTime: 0,
    staleTime: 0,
    retry: false,
  })
  return (
    <Loaded result={result}>
      {({ ok, gateways }) => (
        <Stack>
          <Text role="status">{ok ? 'Every gateway passed.' : 'A gateway did not pass.'}</Text>
          <DataTable
            label={`Test of ${name}`}
            columns={testColumns}
            rows={gateways}
            keyOf={({ uri }) => uri}
          />
        </Stack>
      )}
    </Loaded>
  )
}

const testColumns: readonly Column<AnswerOf<'testTrunk'>['gateways'][number]>[] = [
  { name: 'Gateway', cell: ({ uri }) => uri },
  { name: 'Method', cell: ({ method }) => method },
  { name: 'Result', cell: ({ ok }) => (ok ? 'passed' : 'failed') },
  { name: 'Finding', cell: ({ message }) => message },
]
