import { Table } from '@mantine/core'
import { memo, useCallback, useRef, useState, type ReactNode } from 'react'

interface WindowedColumn<Row> {
  readonly name: string
  /** Of the column, in any unit of CSS: its content has no say, because most of it is not there. */
  readonly width: string
  readonly cell: (row: Row) => ReactNode
}

interface WindowedTableProps<Row> {
  readonly label: string
  /** The same at each rendering: rows that have not changed are not drawn again. */
  readonly columns: readonly WindowedColumn<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
}

const rowHeightPx = 44
/** Rows beyond each end of what is seen. */
const spareRows = 4
/** Scrolling by less draws nothing. */
const stepRows = 4
const defaultHeightPx = 640

/**
 * Hundreds of rows, of which those near the window are in the page. It scrolls in itself, in both directions, also by
 * keyboard.
 */
export const WindowedTable = <Row,>({ label, columns, rows, keyOf }: WindowedTableProps<Row>) => {
  const [first, setFirst] = useState(0)
  const [heightPx, setHeightPx] = useState(defaultHeightPx)
  const box = useRef<HTMLDivElement | null>(null)
  const measure = useCallback((element: HTMLDivElement | null) => {
    box.current = element
    if (!element) return undefined
    const observer = new ResizeObserver(() => setHeightPx(element.clientHeight))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const onScroll = () => {
    const row = Math.floor((box.current?.scrollTop ?? 0) / rowHeightPx)
    setFirst(row - (row % stepRows))
  }
  const begin = Math.max(0, Math.min(first, rows.length - 1) - spareRows)
  const shown = rows.slice(
    begin,
    begin + Math.ceil(heightPx / rowHeightPx) + 2 * spareRows + stepRows,
  )
  const rest = rows.length - begin - shown.length
  return (
    <div
      className="windowed"
      ref={measure}
      onScroll={onScroll}
      tabIndex={0}
      role="group"
      aria-label={`${label}, scrolls`}
    >
      <Table aria-label={label} aria-rowcount={rows.length + 1} layout="fixed">
        <Table.Thead>
          <Table.Tr aria-rowindex={1}>
            {columns.map(({ name, width }) => (
              <Table.Th key={name} scope="col" w={width}>
                {name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          <Space rows={begin} columns={columns.length} />
          {shown.map((row, index) => (
            <DrawnRow key={keyOf(row)} row={row} index={begin + index + 2} columns={columns} />
          ))}
          <Space rows={rest} columns={columns.length} />
        </Table.Tbody>
      </Table>
    </div>
  )
}

/** Stands for the rows that are not in the page. */
const Space = ({ rows, columns }: { rows: number; columns: number }) =>
  rows > 0 && (
    <tr aria-hidden="true">
      <td colSpan={columns} style={{ height: rows * rowHeightPx, padding: 0 }} />
    </tr>
  )

interface DrawnRowProps<Row> {
  readonly row: Row
  readonly index: number
  readonly columns: readonly WindowedColumn<Row>[]
}

const Drawn = <Row,>({ row, index, columns }: DrawnRowProps<Row>) => (
  <tr aria-rowindex={index} style={{ height: rowHeightPx }}>
    {columns.map(({ name, cell }) => (
      <td key={name}>
        <div>{cell(row)}</div>
      </td>
    ))}
  </tr>
)

const DrawnRow = memo(Drawn) as typeof Drawn
