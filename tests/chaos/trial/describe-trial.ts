import type { TrialReport } from './run-trial.ts'

const maxProblemsShown = 30

/** The counts of one trial, for people. */
export const describeTrial = ({ verdict, observations, ...report }: TrialReport): string => {
  const { calls, journal } = verdict
  const lines: [string, string][] = [
    ['kills', `${report.kills.service} of a service, ${report.kills.postgres} of PostgreSQL`],
    ['starts', `${report.starts} of a service`],
    ['requests', `${report.requests} settled, ${report.unanswered} sendings without an answer`],
    ['calls', `${calls.size}: ${countsOf([...calls.values()].map(({ status }) => status))}`],
    ['batches', `${verdict.batches}, seen ${observations.batchSightings} times`],
    ['runs', `${verdict.runs} with ${verdict.moves} moves`],
    [
      'carrier',
      `${journal.invites} INVITEs, ${journal.ringing} rang, ${journal.mostAtOnce} at once`,
    ],
    [
      'capacity',
      `${observations.mostLiveCalls} live at most, in ${observations.capacitySamples} samples`,
    ],
    ['replays', `${verdict.replays} answered again`],
    ['took', `${report.seconds.toFixed(0)} s`],
    ['broken', String(report.problems.length)],
  ]
  return [
    `${report.shape}:`,
    ...lines.map(([name, text]) => `  ${name.padEnd(9)} ${text}`),
    ...report.problems.slice(0, maxProblemsShown).map((problem) => `  ! ${problem}`),
    ...(report.problems.length > 0 ? [`  Logs and journal: ${report.folder}`] : []),
  ].join('\n')
}

const countsOf = (words: readonly string[]): string =>
  Object.entries(Object.groupBy(words, (word) => word))
    .map(([word, all = []]) => `${all.length} ${word}`)
    .join(', ')
