import type { Queryable } from '../../database/database.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import {
  maxCountedWaiting,
  reportCircuits,
  type CircuitReport,
} from '../../dispatch/pacing/circuit-store.ts'
import { reportPaces, type PaceReport } from '../../dispatch/pacing/pace-store.ts'
import { failed, warning, type Finding } from './finding.ts'

/**
 * Reports the open circuits of the trunks, and those whose carrier is congested. Empty if all are closed and whole, or if
 * the database has no table for it yet.
 */
export const checkCircuit = async (db: Queryable): Promise<Finding[]> => {
  const [circuits, paces] = await Promise.all([
    reportCircuits(db).catch(() => []),
    reportPaces(db).catch(() => []),
  ])
  return [
    ...circuits.map((report) => failed('trunk', sentencesOf(report))),
    ...paces.map((report) => warning('trunk', paceSentence(report))),
  ]
}

const paceSentence = ({
  trunk,
  since,
  reason,
  calls_per_second: full,
  paced_per_second: paced,
  is_rising: isRising,
}: PaceReport): string =>
  [
    `The carrier of ${trunk} is congested since ${formatDateTime(since)}, so that ${Math.round(paced * 100) / 100} of ${full} calls per second are dialled: ${reason}`,
    isRising
      ? 'It takes calls again, and the pace rises by itself.'
      : 'The pace rises by itself once it takes a call.',
    `If this comes back, lower ${trunk === 'env' ? 'OUTDIAL_MAX_CPS' : `the pace with trunk set ${trunk} --cps N`}, or ask the carrier for more.`,
  ].join(' ')

const sentencesOf = (report: CircuitReport): string =>
  [
    `The circuit of ${report.trunk} at ${report.uri} is open since ${formatDateTime(report.since)}, so that no call is sent there: ${report.reason}`,
    waitingSentence(report.waiting),
    ...nextProbe(report),
  ].join(' ')

const waitingSentence = (waiting: number): string => {
  if (waiting === 0) return 'No call waits for it.'
  if (waiting === 1) return '1 call waits for it.'
  return `${waiting === maxCountedWaiting ? `${waiting} or more` : waiting} calls wait for it.`
}

const nextProbe = (report: CircuitReport): string[] => {
  const { trunk, cause, ping_at: pingAt, retry_at: retryAt } = report
  // Of a lost registration: no call is let through before it stands again.
  if (retryAt === null) return ['It takes calls again once a node is registered there.']
  if (cause === 'unreachable' && pingAt !== null)
    return [
      `It is asked with OPTIONS at ${formatDateTime(pingAt)}, and dialled with the first answer.`,
      `A trunk that never answered OPTIONS is tried with a call at ${formatDateTime(retryAt)}.`,
    ]
  return [
    ...(cause === 'credentials' ? [passwordRemedy(trunk)] : []),
    `The next call tries it at ${formatDateTime(retryAt)}.`,
  ]
}

const passwordRemedy = (trunk: string): string =>
  trunk === 'env'
    ? 'Check user and password in OUTDIAL_SIP_TRUNK, and start again.'
    : `Check user and password: trunk set ${trunk} --password-file F changes it.`
