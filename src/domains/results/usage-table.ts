import type { Usage, UsageOf } from './daily-usage.ts'

const headings = { day: ['day'], agent: ['agent_id', 'agent'], key: ['key_id', 'key'] } as const

/** Usage as rows for a file; the last is the sum. Cells are not escaped for spreadsheets. */
export const usageTable = (
  usage: Usage,
): { readonly heading: readonly string[]; readonly rows: readonly (readonly string[])[] } => {
  const { by, currency, total, data } = usage
  const labels = headings[by]
  const cells = (used: UsageOf) => [
    String(used.calls),
    String(used.answered),
    String(used.minutes),
    ...(currency === undefined ? [] : [String(used.cost ?? 0)]),
    String(used.model_cost_usd),
  ]
  return {
    heading: [
      ...labels,
      'calls',
      'answered',
      'minutes',
      ...(currency === undefined ? [] : [`cost_${currency.toLowerCase()}`]),
      'model_cost_usd',
    ],
    rows: [
      ...data.map((used) => [...labelCells(used), ...cells(used)]),
      [...labels.map((_, at) => (at === 0 ? 'total' : '')), ...cells(total)],
    ],
  }
}

const labelCells = ({ day, id, name }: UsageOf): string[] =>
  day === undefined ? [id ?? '', id === null ? 'no key' : (name ?? '')] : [day]
