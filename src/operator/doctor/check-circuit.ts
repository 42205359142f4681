import type { Queryable } from '../../database/database.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import {
  maxCountedWaiting,
  reportCircuit,
  type CircuitReport,
} from '../../dispatch/pacing/circuit-store.ts'
import { failed, type Finding } from './finding.ts'

/** Reports an open circuit of the trunk. Empty if it is closed, or if the database has no table for it yet. */
export const checkCircuit = async (db: Queryable): Promise<Finding[]> => {
  const report = await reportCircuit(db, 'env').catch(() => undefined)
  return report === undefined ? [] : [failed('trunk', sentencesOf(report))]
}

const sentencesOf = (report: CircuitReport): string =>
  [
    `Its circuit is open since ${formatDateTime(report.since)}, so that no call is dialled: ${report.reason}`,
    waitingSentence(report.waiting),
    ...nextProbe(report),
  ].join(' ')

const waitingSentence = (waiting: number): string => {
  if (waiting === 0) return 'No call waits for it.'
  if (waiting === 1) return '1 call waits for it.'
  return `${waiting === maxCountedWaiting ? `${waiting} or more` : waiting} calls wait for it.`
}

const nextProbe = ({ cause, ping_at: pingAt, retry_at: retryAt }: CircuitReport): string[] =>
  cause === 'credentials'
    ? [
        'Check user and password in OUTDIAL_SIP_TRUNK, and start again.',
        `The next call tries them at ${formatDateTime(retryAt)}.`,
      ]
    : [
        `It is asked with OPTIONS at ${formatDateTime(pingAt)}, and dialled with the first answer.`,
        `A trunk that never answered OPTIONS is tried with a call at ${formatDateTime(retryAt)}.`,
      ]
