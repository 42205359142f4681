import { Button, Group, NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { reading } from '../../client/queries.ts'
import type { AnswerOf } from '../../client/table.ts'
import { AnchorLink } from '../../parts/anchor-link.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { valuesOf } from '../../parts/fields.ts'
import { Instant } from '../../parts/instant.tsx'
import { PageLinks } from '../../parts/page-links.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { filtersOf, UtcRange } from '../../parts/utc-range.tsx'
import { Refusals } from './refusals.tsx'
import { TargetLink } from './target-link.tsx'

type List = AnswerOf<'listApiRequests'>
type Request = List['data'][number]

const filterNames = [
  'status',
  'operation',
  'api_key_id',
  'error_code',
  'target_id',
  'created_after',
  'created_before',
] as const
type Filters = Readonly<Partial<Record<(typeof filterNames)[number], string>>>

/** What programs asked of the API, refused requests and replays too. */
export const Requests = () => {
  const search = useSearch({ from: '/shell/developers/requests' })
  const navigate = useNavigate({ from: '/developers/requests' })
  const filters: Filters = Object.fromEntries(filterNames.map((name) => [name, search[name]]))
  const isNarrowed = filterNames.some((name) => filters[name] !== undefined)
  const result = useQuery(
    reading('listApiRequests', {
      query: { ...filters, status: statusOf(filters.status), cursor: search['cursor'] },
    }),
  )
  return (
    <Page
      title="API requests"
      purpose="What programs asked, refused requests and replays too. Numbers, names, addresses and free text are masked before anything is stored."
    >
      <Refusals />
      <FilterForm
        key={JSON.stringify(filters)}
        filters={filters}
        keys={result.data?.keys ?? []}
        onFilter={(chosen) => void navigate({ search: chosen })}
      />
      <Loaded result={result}>
        {({ data, keys, next_cursor: next }) =>
          data.length === 0 ? (
            <Empty
              {...(isNarrowed
                ? { what: 'No kept request fits these filters.' }
                : {
                    what: 'No program has asked anything within the time that requests are kept.',
                    command: `curl -H "Authorization: Bearer $OUTDIAL_API_KEY" http://127.0.0.1:4000/agents`,
                  })}
            />
          ) : (
            <>
              <DataTable
                label="Requests"
                columns={columnsOf(keys)}
                rows={data}
                keyOf={({ id }) => id}
              />
              <PageLinks
                isFirst={search['cursor'] === undefined}
                onNewest={() => void navigate({ search: (now) => ({ ...now, cursor: undefined }) })}
                onOlder={
                  next === null
                    ? undefined
                    : () => void navigate({ search: (now) => ({ ...now, cursor: next }) })
                }
              />
            </>
          )
        }
      </Loaded>
    </Page>
  )
}

const statuses = {
  '2xx': 'Accepted (2xx)',
  refused: 'Refused (400 and above)',
  '4xx': 'Client’s errors (4xx)',
  '5xx': 'Service’s errors (5xx)',
} as const

const statusOf = (text: string | undefined) =>
  text !== undefined && text in statuses ? (text as keyof typeof statuses) : undefined

interface FilterFormProps {
  readonly filters: Filters
  readonly keys: List['keys']
  readonly onFilter: (filters: Filters) => void
}

const FilterForm = ({ filters, keys, onFilter }: FilterFormProps) => (
  <form
    role="search"
    aria-label="Filters"
    onSubmit={(event) => {
      event.preventDefault()
      onFilter(filtersOf(valuesOf(event.currentTarget, ...filterNames)))
    }}
  >
    <Group align="flex-end" gap="xs">
      <NativeSelect
        size="xs"
        label="Answer"
        name="status"
        defaultValue={filters.status ?? ''}
        data={[
          { value: '', label: 'Any' },
          ...Object.entries(statuses).map(([value, label]) => ({ value, label })),
        ]}
      />
      <NativeSelect
        size="xs"
        label="Key"
        name="api_key_id"
        defaultValue={filters.api_key_id ?? ''}
        data={[
          { value: '', label: 'Any' },
          ...keys.map(({ id, name }) => ({ value: id, label: name })),
          ...(filters.api_key_id !== undefined && !keys.some(({ id }) => id === filters.api_key_id)
            ? [{ value: filters.api_key_id, label: filters.api_key_id }]
            : []),
        ]}
      />
      <TextInput
        size="xs"
        label="Operation"
        name="operation"
        placeholder="placeCall"
        defaultValue={filters.operation ?? ''}
      />
      <TextInput
        size="xs"
        label="Error code"
        name="error_code"
        placeholder="validation_error"
        defaultValue={filters.error_code ?? ''}
      />
      <TextInput
        size="xs"
        label="Id of what it was about"
        name="target_id"
        defaultValue={filters.target_id ?? ''}
      />
      <UtcRange after={filters.created_after} before={filters.created_before} />
      <Button type="submit" size="xs">
        Filter
      </Button>
      <Button size="xs" variant="default" onClick={() => onFilter({})}>
        Clear
      </Button>
    </Group>
  </form>
)

const columnsOf = (keys: List['keys']): readonly Column<Request>[] => [
  { name: 'When', cell: ({ at }) => <Instant at={at} /> },
  {
    name: 'Request',
    cell: ({ id, method, path }) => (
      <AnchorLink to="/developers/requests/$requestId" params={{ requestId: id }}>
        {method} {path}
      </AnchorLink>
    ),
  },
  { name: 'Answer', cell: ({ status, error_code: code }) => `${status} ${code ?? ''}` },
  {
    name: 'Key',
    cell: ({ api_key_id: keyId }) => keys.find(({ id }) => id === keyId)?.name ?? keyId,
  },
  { name: 'Idempotency', cell: ({ idempotency }) => idempotency ?? '–' },
  { name: 'Took', cell: ({ duration_ms: durationMs }) => `${durationMs} ms` },
  { name: 'About', cell: ({ target, made }) => <TargetLink target={target} made={made} /> },
]
