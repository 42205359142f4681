import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { reading } from '../../client/queries.ts'
import { send } from '../../client/send.ts'
import type { AnswerOf } from '../../client/table.ts'
import { fetchProgram } from '../../client/fetch-program.ts'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { valuesOf } from '../../parts/fields.ts'
import { Page } from '../../parts/page.tsx'
import { saveText } from '../../parts/save-text.ts'
import { Empty, Failure, Loaded, Loading } from '../../parts/states.tsx'
import { Prices } from './prices.tsx'

type UsageAnswer = AnswerOf<'getUsage'>
type Row = UsageAnswer['data'][number]

const DayBars = lazy(async () => ({
  default: (await fetchProgram(() => import('./day-bars.tsx'))).DayBars,
}))

const groupings = { day: 'Day', agent: 'Agent', key: 'API key' } as const
type Grouping = keyof typeof groupings

const groupingOf = (text: string | undefined): Grouping =>
  text !== undefined && text in groupings ? (text as Grouping) : 'day'

/** Calls, minutes and cost by day, agent or key. */
export const UsagePage = () => {
  const search = useSearch({ from: '/shell/developers/usage' })
  const navigate = useNavigate({ from: '/developers/usage' })
  const query = { by: groupingOf(search['by']), from: search['from'], to: search['to'] }
  const result = useQuery(reading('getUsage', { query }))
  const exporting = useMutation({
    mutationFn: () => send('exportUsage', { query }),
    onSuccess: ({ file_name: name, csv }) => saveText(name, csv, 'text/csv'),
  })
  return (
    <Page
      title="Usage"
      purpose="Dialled calls, connected minutes and their cost, from the end of each call."
      actions={
        <Button variant="default" loading={exporting.isPending} onClick={() => exporting.mutate()}>
          Export CSV
        </Button>
      }
    >
      {exporting.error && <Failure error={exporting.error} />}
      <form
        role="search"
        aria-label="Filters"
        key={JSON.stringify(query)}
        onSubmit={(event) => {
          event.preventDefault()
          const values = valuesOf(event.currentTarget, 'by', 'from', 'to')
          void navigate({
            search: Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')),
          })
        }}
      >
        <Group align="flex-end" gap="xs">
          <NativeSelect
            size="xs"
            label="By"
            name="by"
            defaultValue={query.by}
            data={Object.entries(groupings).map(([value, label]) => ({ value, label }))}
          />
          <TextInput
            size="xs"
            type="date"
            label="First day"
            name="from"
            defaultValue={query.from ?? result.data?.from ?? ''}
          />
          <TextInput
            size="xs"
            type="date"
            label="Last day"
            name="to"
            defaultValue={query.to ?? result.data?.to ?? ''}
          />
          <Button type="submit" size="xs">
            Show
          </Button>
          <Button size="xs" variant="default" onClick={() => void navigate({ search: {} })}>
            Last 30 days
          </Button>
        </Group>
      </form>
      <Loaded result={result}>
        {(usage) => (
          <>
            <Sums usage={usage} />
            <Prices prices={usage.prices} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

const Sums = ({ usage }: { usage: UsageAnswer }) => {
  const { data, total, from, to, time_zone: zone, by } = usage
  if (data.length === 0)
    return (
      <Empty
        what={`No call was dialled from ${from} to ${to}.`}
        command="./outdial dial --agent AGENT --org ORG +12025550100"
      />
    )
  return (
    <Stack gap="xs">
      <Text size="sm">
        {from} to {to}, days of {zone.replaceAll('_', ' ')}: {total.calls}{' '}
        {total.calls === 1 ? 'call' : 'calls'}, {total.answered} answered, {total.minutes} minutes
        {total.cost !== undefined && `, ${moneyOf(total.cost, usage.currency)}`}.
      </Text>
      {by === 'day' && (
        <Suspense fallback={<Loading />}>
          <DayBars days={data} from={from} to={to} />
        </Suspense>
      )}
      <DataTable
        label="Usage"
        columns={columnsOf(usage)}
        rows={[...data, { ...total, day: 'Total', name: 'Total' }]}
        keyOf={({ day, id }) => day ?? id ?? 'no key'}
      />
    </Stack>
  )
}

const columnsOf = ({ by, currency, total }: UsageAnswer): readonly Column<Row>[] => [
  { name: groupings[by], cell: (row) => labelOf(row, by) },
  { name: 'Calls', cell: ({ calls }) => calls },
  { name: 'Answered', cell: ({ answered }) => answered },
  { name: 'Minutes', cell: ({ minutes }) => minutes },
  ...(currency === undefined
    ? []
    : [{ name: 'Cost', cell: ({ cost }: Row) => moneyOf(cost ?? 0, currency) }]),
  ...(total.model_cost_usd > 0
    ? [
        {
          name: 'Models',
          cell: ({ model_cost_usd: cost }: Row) => moneyOf(cost, 'USD'),
        },
      ]
    : []),
]

const labelOf = ({ day, id, name }: Row, by: Grouping): string => {
  if (by === 'day') return day ?? ''
  return name ?? (id === null || id === undefined ? 'No key: dashboard, command line' : id)
}

const moneyOf = (amount: number, currency: string | undefined): string =>
  `${amount.toFixed(2)} ${currency ?? ''}`
