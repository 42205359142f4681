import type { OutageReport } from './judge-outage.ts'

const columns: readonly (readonly [string, (report: OutageReport) => string])[] = [
  ['way', ({ way }) => way],
  ['calls', ({ calls }) => String(calls)],
  ['away s', ({ awaySeconds }) => awaySeconds.toFixed(0)],
  ['probes', ({ probes }) => String(probes)],
  ['noticed s', ({ noticedSeconds }) => noticedSeconds.toFixed(1)],
  ['resumed s', ({ resumedSeconds }) => resumedSeconds.toFixed(1)],
  ['rang', ({ rang }) => String(rang)],
  ['twice', ({ rungTwice }) => String(rungTwice)],
  ['lost', ({ lost }) => String(lost)],
  ['failed', ({ failed }) => String(failed)],
  ['took s', ({ tookSeconds }) => tookSeconds.toFixed(0)],
  ['broken', ({ problems }) => String(problems.length)],
]

/**
 * A table for people. `noticed`: from the trunk's return to the probe that it answered; `resumed`: from there to the next
 * INVITE; `lost`: INVITEs that a trunk took before it fell silent, whose calls may have rung and are never made again.
 */
export const describeOutages = (reports: readonly OutageReport[]): string => {
  const rows = [columns.map(([title]) => title)]
  for (const report of reports) rows.push(columns.map(([, show]) => show(report)))
  const widths = columns.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  const lines = rows.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '))
  const problems = reports.flatMap(({ way, problems: all }) =>
    all.map((problem) => `  ! ${way}: ${problem}`),
  )
  return [...lines, ...problems].join('\n')
}
