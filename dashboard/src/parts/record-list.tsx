import { Button, Group, NativeSelect } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { RequestFailure } from '../client/failure.ts'
import type { Search } from '../routes.tsx'
import { DataTable, type Column } from './data-table.tsx'
import { PageLinks } from './page-links.tsx'
import { Empty, Loaded } from './states.tsx'

interface RecordListProps<Row> {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly result: UseQueryResult<
    { readonly data: readonly Row[]; readonly next_cursor: string | null },
    RequestFailure
  >
  readonly keyOf: (row: Row) => string
  readonly search: Search
  readonly onSearch: (search: Search) => void
  /** States that the list can be narrowed to. */
  readonly statuses?: readonly string[]
  /** What else narrows the list, in the line of its filters. */
  readonly furtherFilters?: ReactNode
  readonly empty: { readonly what: string; readonly command?: string }
}

/** A list of the service with its filter, order and place in the address. */
export const RecordList = <Row,>(properties: RecordListProps<Row>) => {
  const { label, columns, result, keyOf, search, onSearch, statuses, empty } = properties
  const { furtherFilters } = properties
  const isNarrowed = Object.keys(search).some(
    (name) => name !== 'sort' && search[name] !== undefined,
  )
  return (
    <>
      {statuses && (
        <Group align="flex-end" gap="xs" role="search" aria-label="Filters">
          {furtherFilters}
          <NativeSelect
            size="xs"
            label="Status"
            value={search['status'] ?? ''}
            data={[
              { value: '', label: 'Any' },
              ...statuses.map((status) => ({ value: status, label: status.replaceAll('_', ' ') })),
            ]}
            onChange={({ currentTarget: { value } }) =>
              onSearch({ ...search, cursor: undefined, status: value === '' ? undefined : value })
            }
          />
          <Button size="xs" variant="default" disabled={!isNarrowed} onClick={() => onSearch({})}>
            Clear
          </Button>
        </Group>
      )}
      <Loaded result={result}>
        {({ data, next_cursor: next }) =>
          data.length === 0 ? (
            <Empty {...(isNarrowed ? { what: 'Nothing fits these filters.' } : empty)} />
          ) : (
            <>
              <DataTable
                label={label}
                columns={columns}
                rows={data}
                keyOf={keyOf}
                sort={search['sort']}
                onSort={(sort) => onSearch({ ...search, sort })}
              />
              <PageLinks
                isFirst={search['cursor'] === undefined}
                onNewest={() => onSearch({ ...search, cursor: undefined })}
                onOlder={next === null ? undefined : () => onSearch({ ...search, cursor: next })}
              />
            </>
          )
        }
      </Loaded>
    </>
  )
}
