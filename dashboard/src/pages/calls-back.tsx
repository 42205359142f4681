import { Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { reading } from '../client/queries.ts'
import type { AnswerOf } from '../client/table.ts'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { formatLength, Instant } from '../parts/instant.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'

type CallBack = AnswerOf<'listCallsBack'>['data'][number]

/** Who called one of our numbers, and what was done. */
export const CallsBack = () => {
  const result = useQuery(reading('listCallsBack', {}))
  return (
    <Stack component="section" aria-labelledby="calls-back" gap="xs">
      <Title order={2} size="h4" id="calls-back">
        Calls back
      </Title>
      <Text size="sm">The newest calls of people to a number of this organization.</Text>
      <Loaded result={result}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty
              what="Nobody has called one of the numbers in the last 90 days."
              command="./outdial calls-back list"
            />
          ) : (
            <DataTable label="Calls back" columns={columns} rows={data} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
    </Stack>
  )
}

const columns: readonly Column<CallBack>[] = [
  { name: 'At', cell: ({ at }) => <Instant at={at} /> },
  { name: 'Caller', cell: ({ phone_number: number }) => number ?? 'withheld' },
  { name: 'Number called', cell: ({ called_number: number }) => number },
  { name: 'Trunk', cell: ({ trunk }) => trunk },
  { name: 'Result', cell: ({ result }) => <StatusBadge status={result} /> },
  { name: 'SIP', cell: ({ sip_status: status }) => status ?? '–' },
  {
    name: 'Lasted',
    cell: ({ seconds }) => (seconds === null ? '–' : formatLength(seconds)),
  },
  { name: 'Reason', cell: ({ reason }) => reason ?? '' },
]
