import { Button, Code, Group, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { reading } from '../client/queries.ts'
import { send } from '../client/send.ts'
import type { AnswerOf } from '../client/table.ts'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { valuesOf } from '../parts/fields.ts'
import { Instant } from '../parts/instant.tsx'
import { PageLinks } from '../parts/page-links.tsx'
import { Page } from '../parts/page.tsx'
import { saveText } from '../parts/save-text.ts'
import { Empty, Failure, Loaded } from '../parts/states.tsx'

type Entry = AnswerOf<'listAuditEntries'>['data'][number]

const filterNames = ['action', 'actor_id', 'target_type', 'target_id'] as const

const labels: Readonly<Record<(typeof filterNames)[number], string>> = {
  action: 'Action',
  actor_id: 'Actor id',
  target_type: 'Kind of target',
  target_id: 'Target id',
}

export const Audit = () => {
  const search = useSearch({ from: '/shell/settings/audit' })
  const navigate = useNavigate({ from: '/settings/audit' })
  const filters = Object.fromEntries(filterNames.map((name) => [name, search[name]]))
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
          const values = valuesOf(event.currentTarget, ...filterNames)
          const chosen = Object.entries(values).filter(([, value]) => value !== '')
          void navigate({ search: Object.fromEntries(chosen) })
        }}
      >
        <Group align="flex-end" gap="xs">
          {filterNames.map((name) => (
            <TextInput
              key={name}
              size="xs"
              label={labels[name]}
              name={name}
              defaultValue={search[name] ?? ''}
            />
          ))}
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
        {target.type} <Code>{target.id ?? ''}</Code>
      </>
    ),
  },
  { name: 'Before', cell: ({ before }) => <Value value={before} /> },
  { name: 'After', cell: ({ after }) => <Value value={after} /> },
]

const Value = ({ value }: { value: unknown }) =>
  value === null || value === undefined ? (
    <>–</>
  ) : (
    <Code style={{ overflowWrap: 'anywhere' }}>{JSON.stringify(value)}</Code>
  )
