import type { CliContext } from './cli-context.ts'

export interface OutputOptions {
  readonly json?: true
}

/** With `--json` one JSON document and nothing else; otherwise what a person reads, given the width of the terminal. */
export const show = (
  context: CliContext,
  { json }: OutputOptions,
  value: unknown,
  forPeople: (width?: number) => string,
): void => context.print(json ? JSON.stringify(value, null, 2) : forPeople(context.terminalWidth))

const gap = '  '
/** A column that would be narrower is easier to read when the terminal breaks its lines. */
const leastWrappedWidth = 20

/** Columns of equal width, the first row as heading. With a width, the last column is wrapped to it. */
export const table = (
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  whenEmpty: string,
  width?: number,
): string => {
  if (rows.length === 0) return whenEmpty
  const all = [heading, ...rows]
  const widths = heading.map((_, column) =>
    Math.max(...all.map((row) => lengthOf(row[column] ?? ''))),
  )
  const indent = widths.slice(0, -1).reduce((sum, each) => sum + each + gap.length, 0)
  const room = width === undefined ? 0 : width - indent
  const printRow = (row: readonly string[]): string => {
    const [last = '', ...more] =
      room >= leastWrappedWidth ? wrap(row.at(-1) ?? '', room) : [row.at(-1) ?? '']
    const cells = [...row.slice(0, -1), last]
    const first = cells.map((cell, column) => pad(cell, widths[column] ?? 0)).join(gap)
    return [first, ...more.map((line) => ' '.repeat(indent) + line)]
      .map((line) => line.trimEnd())
      .join('\n')
  }
  return all.map(printRow).join('\n')
}

const lengthOf = (text: string): number => Array.from(text).length

const pad = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - lengthOf(text)))

/** Lines of at most `width` characters, broken between words; a longer word stands alone. */
const wrap = (text: string, width: number): string[] => {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line === undefined || lengthOf(line) + 1 + lengthOf(word) > width) lines.push(word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines
}

/** `name  value` lines. */
export const facts = (entries: readonly (readonly [string, string | undefined])[]): string => {
  const known = entries.filter(
    (entry): entry is readonly [string, string] => entry[1] !== undefined,
  )
  const width = Math.max(...known.map(([name]) => name.length))
  return known.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n')
}
