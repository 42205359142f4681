import { Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'

export interface Column<Row> {
  readonly name: string
  readonly cell: (row: Row) => ReactNode
  /** Makes the column one that rows can be sorted by. */
  readonly sortBy?: (row: Row) => string | number | undefined
}

interface DataTableProps<Row> {
  /** What the rows are, for screen readers. */
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  /** The row that the rest of the page is about. */
  readonly isCurrent?: (row: Row) => boolean
  /** A column's name, with `-` before it for descending order. */
  readonly sort?: string | undefined
  readonly onSort?: ((sort: string | undefined) => void) | undefined
}

/** Rows under headers; on a narrow screen the table scrolls in itself, and not the page. */
export const DataTable = <Row,>({
  label,
  columns,
  rows,
  keyOf,
  isCurrent,
  sort,
  onSort,
}: DataTableProps<Row>) => (
  <div className="wide" tabIndex={0}>
    <Table highlightOnHover verticalSpacing={6} aria-label={label}>
      <Table.Thead>
        <Table.Tr>
          {columns.map((column) => (
            <Header key={column.name} column={column} sort={sort} onSort={onSort} />
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {sortRows(rows, columns, sort).map((row) => (
          // Plain elements: a list has 500 cells, and each component of the library costs its share of the first paint.
          <tr key={keyOf(row)} className="row" aria-current={isCurrent?.(row) || undefined}>
            {columns.map(({ name, cell }) => (
              <td key={name} className="cell">
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </Table.Tbody>
    </Table>
  </div>
)

const Header = <Row,>({
  column: { name, sortBy },
  sort,
  onSort,
}: { column: Column<Row> } & Pick<DataTableProps<Row>, 'sort' | 'onSort'>) => {
  if (!sortBy || !onSort) return <Table.Th scope="col">{name}</Table.Th>
  const order = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : undefined
  const next = order === undefined ? name : order === 'ascending' ? `-${name}` : undefined
  return (
    <Table.Th scope="col" aria-sort={order ?? 'none'}>
      <button type="button" className="sort" onClick={() => onSort(next)}>
        {name}
        <Text span aria-hidden>
          {order === 'ascending' ? ' ▲' : order === 'descending' ? ' ▼' : ''}
        </Text>
      </button>
    </Table.Th>
  )
}

/** The rows in the order that was chosen; rows without a value come last. */
export const sortRows = <Row,>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sort: string | undefined,
): readonly Row[] => {
  const isDescending = sort?.startsWith('-') ?? false
  const name = isDescending ? sort?.slice(1) : sort
  const sortBy = columns.find((column) => column.name === name)?.sortBy
  if (!sortBy) return rows
  return rows.toSorted((left, right) => compare(sortBy(left), sortBy(right), isDescending))
}

const compare = (
  left: string | number | undefined,
  right: string | number | undefined,
  isDescending: boolean,
): number => {
  if (left === undefined || right === undefined)
    return Number(left === undefined) - Number(right === undefined)
  const order =
    typeof left === 'number' && typeof right === 'number'
      ? left - right
      : String(left).localeCompare(String(right))
  return isDescending ? -order : order
}
