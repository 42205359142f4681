import type { CliContext } from './cli-context.ts'

export interface OutputOptions {
  readonly json?: true
}

/** With `--json` one JSON document and nothing else; otherwise what a person reads. */
export const show = (
  context: CliContext,
  { json }: OutputOptions,
  value: unknown,
  forPeople: () => string,
): void => context.print(json ? JSON.stringify(value, null, 2) : forPeople())

/** Columns of equal width, the first row as heading. */
export const table = (
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  whenEmpty: string,
): string => {
  if (rows.length === 0) return whenEmpty
  const all = [heading, ...rows]
  const widths = heading.map((_, column) =>
    Math.max(...all.map((row) => Array.from(row[column] ?? '').length)),
  )
  return all
    .map((row) =>
      row
        .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - Array.from(cell).length))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** `name  value` lines. */
export const facts = (entries: readonly (readonly [string, string | undefined])[]): string => {
  const known = entries.filter(
    (entry): entry is readonly [string, string] => entry[1] !== undefined,
  )
  const width = Math.max(...known.map(([name]) => name.length))
  return known.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n')
}
