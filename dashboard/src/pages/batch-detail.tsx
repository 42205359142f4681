import { Group, NativeSelect, Progress, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { callStatuses } from '../../../src/contract/states.ts'
import { reading, refreshedUntil } from '../client/queries.ts'
import type { AnswerOf } from '../client/table.ts'
import { AnchorLink } from '../parts/anchor-link.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { formatLength, Instant } from '../parts/instant.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { WaitReasons } from '../parts/wait-reasons.tsx'
import { BatchActions } from './batch/batch-actions.tsx'
import { ForecastSection, type Forecast } from './batch/forecast.tsx'
import { Counts } from './import/counts.tsx'

type Detail = AnswerOf<'getBatch'>
type Recipient = AnswerOf<'listRecipients'>['data'][number]

/** Counters change by themselves until the last recipient has ended. */
const refreshMs = 2_000

/** A forecast is reckoned anew this often: it reads more than the counters. */
const forecastMs = 15_000

const isOver = ({ batch }: Detail): boolean =>
  batch.completed_recipients + batch.failed_recipients + batch.cancelled_recipients ===
  batch.total_recipients

export const BatchPage = () => {
  const { batchId } = useParams({ from: '/shell/batches/$batchId' })
  const params = { batch_id: batchId }
  const result = useQuery({
    ...reading('getBatch', { params }),
    refetchInterval: refreshedUntil(isOver, refreshMs),
  })
  const hasEnded = result.data !== undefined && isOver(result.data)
  const { data: forecast } = useQuery({
    ...reading('forecastBatch', { params }),
    refetchInterval: hasEnded ? false : forecastMs,
  })
  return (
    <Loaded result={result}>
      {(detail) => (
        <Page
          title={detail.batch.name}
          purpose={`${detail.batch.total_recipients} recipients, called by ${detail.agent_name ?? 'an agent'}.`}
          actions={<BatchActions batch={detail.batch} />}
        >
          <Progressing detail={detail} />
          <WaitReasons reasons={detail.reasons} />
          {forecast && (!hasEnded || forecast.at_start) && <ForecastSection forecast={forecast} />}
          <Recipients batchId={batchId} isOver={hasEnded} forecast={forecast} />
        </Page>
      )}
    </Loaded>
  )
}

const Progressing = ({ detail: { batch, expected_end_at: expectedEnd } }: { detail: Detail }) => {
  const ended = batch.completed_recipients + batch.failed_recipients + batch.cancelled_recipients
  const window = batch.calling_window
  return (
    <>
      <Group gap="xs">
        <StatusBadge status={batch.status} />
        <Text size="sm">
          Made <Instant at={batch.created_at} />
          {batch.scheduled_start_at !== undefined && (
            <>
              , starts <Instant at={batch.scheduled_start_at} />
            </>
          )}
          {batch.completed_at !== undefined && (
            <>
              , ended <Instant at={batch.completed_at} />
            </>
          )}
          {expectedEnd !== undefined && (
            <>
              , expected to end <Instant at={expectedEnd} />
            </>
          )}
        </Text>
      </Group>
      {window && (
        <Text size="sm">
          Only {window.weekdays.join(', ')} from {window.start_time} to {window.end_time} in{' '}
          {window.time_zone}, and where the policy allows it.
        </Text>
      )}
      <Progress
        value={(ended / batch.total_recipients) * 100}
        aria-label={`${ended} of ${batch.total_recipients} recipients have ended`}
      />
      <Counts
        figures={{
          Pending: batch.pending_recipients,
          Queued: batch.queued_recipients,
          'In progress': batch.in_progress_recipients,
          Completed: batch.completed_recipients,
          Failed: batch.failed_recipients,
          Cancelled: batch.cancelled_recipients,
          Answered: batch.answered_recipients,
          'No answer': batch.no_answer_recipients,
          Busy: batch.busy_recipients,
        }}
      />
    </>
  )
}

interface RecipientsProps {
  readonly batchId: string
  readonly isOver: boolean
  readonly forecast: Forecast | undefined
}

const Recipients = ({ batchId, isOver: hasEnded, forecast }: RecipientsProps) => {
  const search = useSearch({ from: '/shell/batches/$batchId' })
  const navigate = useNavigate({ from: '/batches/$batchId' })
  const result = useQuery({
    ...reading('listRecipients', { params: { batch_id: batchId } }),
    refetchInterval: hasEnded ? false : refreshMs,
  })
  const { status, sort } = search
  return (
    <Stack component="section" aria-labelledby="recipients" gap="xs">
      <Group justify="space-between" align="flex-end">
        <Title order={2} size="h4" id="recipients">
          Recipients
        </Title>
        <NativeSelect
          size="xs"
          label="Status"
          value={status ?? ''}
          data={[
            { value: '', label: 'Any' },
            ...['pending', ...callStatuses].map((each) => ({
              value: each,
              label: each.replaceAll('_', ' '),
            })),
          ]}
          onChange={({ currentTarget: { value } }) =>
            void navigate({ search: { ...search, status: value === '' ? undefined : value } })
          }
        />
      </Group>
      <Loaded result={result}>
        {({ data }) => {
          const shown = data.filter((each) => status === undefined || each.status === status)
          return shown.length === 0 ? (
            <Empty what="No recipient has this status." />
          ) : (
            <DataTable
              label="Recipients"
              columns={hasEnded ? columns : [...columns, ringColumn(forecast)]}
              rows={shown}
              keyOf={(each) => each.call_id}
              sort={sort}
              onSort={(next) => void navigate({ search: { ...search, sort: next } })}
            />
          )
        }}
      </Loaded>
    </Stack>
  )
}

/** When a recipient would ring, or why never. */
const ringColumn = (forecast: Forecast | undefined): Column<Recipient> => {
  const byCall = new Map(forecast?.recipients.map((each) => [each.call_id, each]))
  return {
    name: 'Would ring',
    cell: ({ call_id: id }) => {
      const expected = byCall.get(id)
      if (expected?.never !== undefined) return `never: ${expected.never.replaceAll('_', ' ')}`
      return <Instant at={expected?.rings_at} />
    },
    sortBy: ({ call_id: id }) => byCall.get(id)?.rings_at,
  }
}

const columns: readonly Column<Recipient>[] = [
  {
    name: 'Contact',
    cell: ({ call_id: callId, name }) => (
      <AnchorLink to="/calls/$callId" params={{ callId }}>
        {name ?? 'erased'}
      </AnchorLink>
    ),
    sortBy: ({ name }) => name,
  },
  { name: 'Number', cell: ({ phone_number: number }) => number ?? '–' },
  {
    name: 'Status',
    cell: ({ status }) => <StatusBadge status={status} />,
    sortBy: ({ status }) => status,
  },
  {
    name: 'Answer',
    cell: ({ answer_status: answer }) => answer?.replaceAll('_', ' ') ?? '–',
    sortBy: ({ answer_status: answer }) => answer,
  },
  { name: 'Outcome', cell: ({ outcome }) => outcome?.replaceAll('_', ' ') ?? '–' },
  { name: 'Reason', cell: ({ reason }) => reason?.replaceAll('_', ' ') ?? '–' },
  {
    name: 'Length',
    cell: ({ duration_seconds: seconds }) => (seconds === undefined ? '–' : formatLength(seconds)),
    sortBy: ({ duration_seconds: seconds }) => seconds,
  },
  {
    name: 'Ended',
    cell: ({ ended_at: at }) => <Instant at={at} />,
    sortBy: ({ ended_at: at }) => at,
  },
]
