import { Button, Group, NativeSelect, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { atLeast } from '../../../../src/contract/roles.ts'
import { pollMs } from '../../client/changes.ts'
import { reading, useChange } from '../../client/queries.ts'
import { useMay } from '../../client/session.ts'
import { useWatchedWords } from '../../client/words.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { WindowedTable } from '../../parts/windowed-table.tsx'
import type { Search } from '../../routes.tsx'
import { liveColumns, type LiveCall } from './live-columns.tsx'
import { Listening } from './listening.tsx'
import './live.css'

/** Without a stream the list is asked for this often. */
const refreshMs = 5_000

/** The calls that go on, with the words as they are spoken. */
export const Live = () => {
  const search = useSearch({ from: '/shell/live' })
  const navigate = useNavigate({ from: '/live' })
  const result = useQuery({
    ...reading('listLiveCalls', {}),
    refetchInterval: () => pollMs(refreshMs),
  })
  useWatchedWords('all')
  return (
    <Page
      title="Live"
      purpose="The calls that ring or are held now, with the words as they are spoken."
    >
      <Loaded result={result}>
        {({ data, is_cut: isCut }) => (
          <LiveList
            calls={data}
            isCut={isCut}
            search={search}
            onSearch={(next) => void navigate({ search: next, replace: true })}
          />
        )}
      </Loaded>
    </Page>
  )
}

interface LiveListProps {
  readonly calls: readonly LiveCall[]
  readonly isCut: boolean
  readonly search: Search
  readonly onSearch: (search: Search) => void
}

const LiveList = ({ calls, isCut, search, onSearch }: LiveListProps) => {
  const [ending, setEnding] = useState<LiveCall>()
  const cancel = useChange('cancelCall')
  const operates = useMay(atLeast('operator'))
  const [heard, setHeard] = useState<LiveCall>()
  const columns = useMemo(
    () => liveColumns({ onHangUp: setEnding, onListen: setHeard, operates }),
    [operates],
  )
  const shown = calls.filter((call) => fits(call, search))
  return (
    <>
      {heard && (
        <Listening
          key={heard.id}
          callId={heard.id}
          name={heard.contact_name ?? heard.contact_id}
          onStop={() => setHeard(undefined)}
        />
      )}
      <Filters calls={calls} search={search} onSearch={onSearch} />
      <Text size="sm" role="status">
        {shown.length === calls.length
          ? `${calls.length} ${calls.length === 1 ? 'call' : 'calls'}`
          : `${shown.length} of ${calls.length} calls`}
        {isCut && '; there are more than are listed'}
      </Text>
      {shown.length > 0 ? (
        <WindowedTable label="Live calls" columns={columns} rows={shown} keyOf={({ id }) => id} />
      ) : calls.length > 0 ? (
        <Empty what="No live call fits these filters." />
      ) : (
        <Empty
          what="No call goes on now."
          command="./outdial dial --org ORG --agent AGENT +12025550100 --follow"
        />
      )}
      <ConfirmDialog
        isOpen={ending !== undefined}
        onClose={() => setEnding(undefined)}
        title={`Hang up the call to ${ending?.contact_name ?? ending?.contact_id ?? ''}`}
        consequence="The call ends at once, for both sides."
        label="Hang up"
        onConfirm={async () => ending && cancel.mutateAsync({ params: { call_id: ending.id } })}
      />
    </>
  )
}

const fits = (call: LiveCall, { status, agent, find }: Search): boolean =>
  (status === undefined || call.status === status) &&
  (agent === undefined || call.agent_id === agent) &&
  (find === undefined ||
    `${call.contact_name ?? ''} ${call.phone_number ?? ''} ${call.id}`
      .toLowerCase()
      .includes(find.toLowerCase()))

const Filters = ({ calls, search, onSearch }: Omit<LiveListProps, 'isCut'>) => {
  const agents = new Map(calls.map((call) => [call.agent_id, call.agent_name ?? call.agent_id]))
  const { agent } = search
  if (agent !== undefined && !agents.has(agent)) agents.set(agent, agent)
  const change = (name: string, value: string) =>
    onSearch({ ...search, [name]: value === '' ? undefined : value })
  return (
    <Group align="flex-end" gap="xs" role="search" aria-label="Filters">
      <TextInput
        size="xs"
        label="Contact or number"
        value={search['find'] ?? ''}
        onChange={({ currentTarget }) => change('find', currentTarget.value)}
      />
      <NativeSelect
        size="xs"
        label="State"
        value={search['status'] ?? ''}
        data={[
          { value: '', label: 'Any' },
          { value: 'dialing', label: 'dialing' },
          { value: 'in_progress', label: 'in progress' },
        ]}
        onChange={({ currentTarget }) => change('status', currentTarget.value)}
      />
      <NativeSelect
        size="xs"
        label="Agent"
        value={agent ?? ''}
        data={[
          { value: '', label: 'Any' },
          ...[...agents].map(([value, label]) => ({ value, label })),
        ]}
        onChange={({ currentTarget }) => change('agent', currentTarget.value)}
      />
      <Button
        size="xs"
        variant="default"
        disabled={Object.values(search).every((value) => value === undefined)}
        onClick={() => onSearch({})}
      >
        Clear
      </Button>
    </Group>
  )
}
