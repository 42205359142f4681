import { Alert, Code, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { atLeast } from '../../../../src/contract/roles.ts'
import { reading, refreshedUntil, useChange } from '../../client/queries.ts'
import { useMay } from '../../client/session.ts'
import type { AnswerOf } from '../../client/table.ts'
import { AnchorLink } from '../../parts/anchor-link.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { CopyText } from '../../parts/copy-text.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { Instant } from '../../parts/instant.tsx'
import { Page } from '../../parts/page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { WaitReasons } from '../../parts/wait-reasons.tsx'
import { RunReplay } from './flow/run-replay.tsx'

type Run = AnswerOf<'getRun'>
type Move = Run['moves'][number]

/** A run that goes on is asked for again. */
const refreshMs = 2_000
const finalStatuses = new Set<string>(['completed', 'failed', 'cancelled'])

export const RunPage = () => {
  const { runId } = useParams({ from: '/shell/runs/$runId' })
  const result = useQuery({
    ...reading('getRun', { params: { run_id: runId } }),
    refetchInterval: refreshedUntil((run) => finalStatuses.has(run.status), refreshMs),
  })
  return <Loaded result={result}>{(run) => <Detail run={run} />}</Loaded>
}

const Detail = ({ run }: { run: Run }) => {
  const { move } = useSearch({ from: '/shell/runs/$runId' })
  const navigate = useNavigate({ from: '/runs/$runId' })
  const sequence = move === undefined ? undefined : Number(move)
  const show = (shown: number | undefined): void =>
    void navigate({
      search: { move: shown === undefined ? undefined : String(shown) },
      replace: true,
      resetScroll: false,
    })
  return (
    <Page
      title={`Run for ${run.contact_name ?? 'an erased contact'}`}
      purpose={[run.phone_number, `from ${run.origin}`].filter(Boolean).join(' · ')}
      actions={<RunActions run={run} />}
    >
      <Group gap="xs">
        <StatusBadge status={run.status} />
        {run.failure_code && <StatusBadge status={run.failure_code} />}
        <Text size="sm">
          <AnchorLink to="/automations/$automationId" params={{ automationId: run.automation_id }}>
            {run.automation_name}
          </AnchorLink>
          , version {run.automation_version}. Queued <Instant at={run.queued_at} />
          {run.completed_at !== undefined && (
            <>
              , ended <Instant at={run.completed_at} />
            </>
          )}
          {run.cancelled_at !== undefined && (
            <>
              , cancelled <Instant at={run.cancelled_at} />
            </>
          )}
          .
        </Text>
      </Group>
      <WaitReasons reasons={run.reasons} />
      <Place run={run} />
      <RunReplay run={run} sequence={sequence} onSequence={show} />
      <Stack component="section" aria-labelledby="history" gap="xs">
        <Title order={2} size="h4" id="history">
          History
        </Title>
        {run.moves.length === 0 ? (
          <Text size="sm">It has not begun.</Text>
        ) : (
          <DataTable
            label="History"
            columns={moveColumns}
            rows={run.moves}
            keyOf={(each) => String(each.sequence)}
            isCurrent={(each) => each.sequence === sequence}
          />
        )}
        {run.moves_truncated && (
          <Text size="sm">
            Only the newest moves are shown. <Code>outdial run show {run.id}</Code> prints all.
          </Text>
        )}
      </Stack>
    </Page>
  )
}

/** Where it stands, and what it does next. */
const Place = ({ run }: { run: Run }) => (
  <Stack component="section" aria-labelledby="place" gap={4}>
    <Title order={2} size="h4" id="place">
      {finalStatuses.has(run.status) ? 'Where it ended' : 'Where it stands'}
    </Title>
    <Text size="sm">
      {run.step === undefined ? (
        'Before its first step'
      ) : (
        <>
          At step <Code>{run.step}</Code>
        </>
      )}
      {run.attempt > 0 && `, attempt ${run.attempt}`}. Steps so far: {run.steps_executed}.
    </Text>
    {run.call && (
      <Text size="sm" component="div">
        Its call is <StatusBadge status={run.call.status} />{' '}
        <AnchorLink to="/calls/$callId" params={{ callId: run.call.id }}>
          Open the call
        </AnchorLink>
      </Text>
    )}
    {run.next && (
      <Alert variant="outline" color="teal" title="What comes next">
        <Text size="sm">
          {run.next.message}
          {run.next.at !== undefined && (
            <>
              {' '}
              On <Instant at={run.next.at} />.
            </>
          )}
        </Text>
      </Alert>
    )}
  </Stack>
)

const RunActions = ({ run }: { run: Run }) => {
  const cancel = useChange('cancelRun')
  const mayCancel = useMay(atLeast('operator'))
  return (
    <>
      <CopyText value={run.id} what="run id" isHidden />
      {!finalStatuses.has(run.status) && (
        <ConfirmButton
          label="Cancel"
          accessibleName="Cancel the run"
          consequence="Nothing more of it starts. A waiting call is not dialled any more; a live one finishes."
          disabledBecause={mayCancel ? undefined : 'For operators and administrators.'}
          onConfirm={() => cancel.mutateAsync({ params: { run_id: run.id } })}
        />
      )}
    </>
  )
}

const moveColumns: readonly Column<Move>[] = [
  { name: 'When', cell: ({ at }) => <Instant at={at} /> },
  { name: 'Step', cell: ({ step }) => step ?? '–' },
  { name: 'Move', cell: ({ move }) => move.replaceAll('_', ' ') },
  { name: 'Attempt', cell: ({ attempt }) => attempt ?? '–' },
  { name: 'Until', cell: ({ until }) => <Instant at={until} /> },
  { name: 'Why', cell: ({ reason }) => reason },
  {
    name: 'Call',
    cell: ({ call_id: id, sequence }) =>
      id === undefined ? (
        '–'
      ) : (
        <AnchorLink to="/calls/$callId" params={{ callId: id }}>
          Call of move {sequence}
        </AnchorLink>
      ),
  },
]
