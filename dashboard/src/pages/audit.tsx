import { Button, Group, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { reading } from '../client/queries.ts'
import { send } from '../client/send.ts'
import type { AnswerOf } from '../client/table.ts'
import { CopyText } from '../parts/copy-text.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { valuesOf } from '../parts/fields.ts'
import { Instant } from '../parts/instant.tsx'
import { PageLinks } from '../parts/page-links.tsx'
import { Page } from '../parts/page.tsx'
import { saveText } from '../parts/save-text.ts'
import { filtersOf, UtcRange } from '../parts/utc-range.tsx'
import { Empty, Failure, Loaded } from '../parts/states.tsx'

type Entry = AnswerOf<'listAuditEntries'>['data'][number]

const textFilters = ['action', 'actor_id', 'target_type', 'target_id'] as const
const filterNames = [...textFilters, 'created_after', 'created_before'] as const
type Filters = Readonly<Partial<Record<(typeof filterNames)[number], string>>>

const labels: Readonly<Record<(typeof textFilters)[number], string>> = {
  action: 'Action',
  actor_id: 'Actor id',
  target_type: 'Kind of target',
  target_id: 'Target id',
}

export const Audit = () => {
  const search = useSearch({ from: '/shell/settings/audit' })
  const navigate = useNavigate({ from: '/settings/audit' })
  const filters: Filters = Object.fromEntries(filterNames.map((name) => [name, search[name]]))
  const result = useQuery(
    reading('listAuditEntries', { query: { ...filters, cursor: search['cursor'] } }),
  )
  const exporting = useMutation({
    mutationFn: () => send('exportAuditEntries', { query: filters }),
    onSuccess: ({ file_name: name, csv }) => saveText(name, csv, 'text/csv'),
  })
  return (
    <Page
      title="Audit log"
      purpose="Every change: who, from where, and what was before and after."
      actions={
        <Button variant="default" loading={exporting.isPending} onClick={() => exporting.mutate()}>
          Export CSV
        </Button>
      }
    >
      {exporting.error && <Failure error={exporting.error} />}
      {exporting.data?.truncated && (
        <p role="status">The file has the newest entries; older ones were left out.</p>
      )}
      <form
        role="search"
        aria-label="Filters"
        key={JSON.stringify(filters)}
        onSubmit={(event) => {
          event.preventDefault()
          void navigate({ search: filtersOf(valuesOf(event.currentTarget, ...filterNames)) })
        }}
      >
        <Group align="flex-end" gap="xs">
          {textFilters.map((name) => (
            <TextInput
              key={name}
              size="xs"
              label={labels[name]}
              name={name}
              defaultValue={search[name] ?? ''}
            />
          ))}
          <UtcRange after={filters.created_after} before={filters.created_before} />
          <Button type="submit" size="xs">
            Filter
          </Button>
          <Button size="xs" variant="default" onClick={() => void navigate({ search: {} })}>
            Clear
          </Button>
        </Group>
      </form>
      <Loaded result={result}>
        {({ data, next_cursor: next }) =>
          data.length === 0 ? (
            <Empty what="Nothing was changed that these filters would show." />
          ) : (
            <>
              <DataTable label="Changes" columns={columns} rows={data} keyOf={({ id }) => id} />
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

const columns: readonly Column<Entry>[] = [
  { name: 'When', cell: ({ at }) => <Instant at={at} /> },
  { name: 'Who', cell: ({ actor }) => `${actor.name} (${actor.kind.replaceAll('_', ' ')})` },
  { name: 'From', cell: ({ address }) => address ?? '–' },
  { name: 'Action', cell: ({ action }) => action },
  {
    name: 'Target',
    cell: ({ target }) => (
      <>
        {target.type.replaceAll('_', ' ')}{' '}
        {target.id && <CopyText value={target.id} what={`id of the ${target.type}`} isHidden />}
      </>
    ),
  },
  { name: 'Before', cell: ({ before }) => <Value value={before} /> },
  { name: 'After', cell: ({ after }) => <Value value={after} /> },
]

/** Each member on a line of its own; what is nested stays JSON. */
const Value = ({ value }: { value: unknown }) => {
  if (value === null || value === undefined) return <>–</>
  if (typeof value !== 'object' || Array.isArray(value)) return <>{textOf(value)}</>
  return (
    <dl className="members">
      {Object.entries(value).map(([name, member]) => (
        <div key={name}>
          <dt>{name.replaceAll('_', ' ')}</dt>
          <dd>{textOf(member)}</dd>
        </div>
      ))}
    </dl>
  )
}

const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object'))
    return value.length === 0 ? 'none' : value.map(String).join(', ')
  return JSON.stringify(value)
}
