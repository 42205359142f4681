import { facts, gap, leastWrappedWidth, restyle, textOf, type Lines, type Piece } from './output.ts'
import { padTo, shortenToWidth, widestWord, widthOf, wrap } from './text-width.ts'

/** A narrower cell is useless. */
const leastShortenedWidth = 10

type Row = readonly Piece[]

/**
 * Columns, with the first row as heading. On a terminal no row exceeds its width: times lose their seconds, the
 * last column is wrapped between words, other long texts are shortened. If that is not enough, each row becomes a
 * list. Without a width, as in a pipe, a row is one complete line.
 */
export const table = (
  heading: readonly string[],
  rows: readonly Row[],
  whenEmpty: string,
  width?: number,
): Lines => {
  if (rows.length === 0) return [whenEmpty]
  const titles = heading.map((text): Piece => ({ style: 'dim', text }))
  const whole = [titles, ...rows]
  if (width === undefined || sumOf(naturalWidths(whole)) <= width)
    return print(whole, naturalWidths(whole))
  const shorter = [titles, ...rows.map((row) => row.map(withShortTime))]
  const widths = fit(shorter, width)
  return widths ? print(shorter, widths) : records(heading, rows, width)
}

const sumOf = (widths: readonly number[]): number =>
  widths.reduce((sum, each) => sum + each, 0) + gap.length * (widths.length - 1)

const naturalWidths = (rows: readonly Row[]): number[] =>
  (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => widthOf(textOf(row[column] ?? '')))),
  )

const instant = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z$/

const withShortTime = (cell: Piece): Piece => restyle(cell, textOf(cell).replace(instant, '$1 $2Z'))

/** A text without blanks, no longer than an id, is useful only whole. */
const longestWholeCell = 36

/** The width of each column, or undefined if the columns do not fit side by side. */
const fit = (rows: readonly Row[], width: number): number[] | undefined => {
  const natural = naturalWidths(rows)
  const last = natural.length - 1
  const texts = (column: number): string[] => rows.slice(1).map((row) => textOf(row[column] ?? ''))
  const least = natural.map((wide, column) => {
    if (column === last)
      return Math.min(wide, Math.max(leastWrappedWidth, ...texts(column).map(widestWord)))
    const isWhole = texts(column).every((text) => !text.includes(' ') || instant.test(text))
    return isWhole && wide <= longestWholeCell ? wide : Math.min(wide, leastShortenedWidth)
  })
  let room = width - sumOf(least)
  if (room < 0) return undefined
  // The remaining width goes to the shortened columns in turn, a cell at a time.
  const widths = [...least]
  while (room > 0) {
    const wanting = widths.flatMap((each, column) =>
      each < (natural[column] ?? 0) ? [column] : [],
    )
    if (wanting.length === 0) break
    for (const column of wanting.slice(0, room)) widths[column] = (widths[column] ?? 0) + 1
    room -= Math.min(room, wanting.length)
  }
  return widths
}

const print = (rows: readonly Row[], widths: readonly number[]): Lines => {
  const last = widths.length - 1
  const indent = sumOf(widths.slice(0, -1)) + (last > 0 ? gap.length : 0)
  return rows.flatMap((row) => {
    const end = row[last] ?? ''
    const [first = '', ...more] = wrap(textOf(end), Math.max(1, widths[last] ?? 1))
    const cells = row.slice(0, last).flatMap((cell, column): Piece[] => {
      const width = widths[column] ?? 0
      return [restyle(cell, padTo(shortenToWidth(textOf(cell), width), width)), gap]
    })
    return [
      [...cells, restyle(end, first)],
      ...more.map((text) => [' '.repeat(indent), restyle(end, text)]),
    ]
  })
}

const records = (heading: readonly string[], rows: readonly Row[], width: number): Lines =>
  rows.flatMap((row, index) => [
    ...(index === 0 ? [] : ['']),
    ...facts(
      heading.map((name, column) => [name, filled(row[column])] as const),
      width,
    ),
  ])

/** A label without a value is omitted. */
const filled = (cell: Piece = ''): Piece | undefined => (textOf(cell) === '' ? undefined : cell)
