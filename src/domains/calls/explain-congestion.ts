import { formatDateTime } from '../../contract/date-time.ts'
import type { ExplanationReason } from '../../contract/explanations.ts'
import type { ExplainRow } from './explain-store.ts'
import { maxCongestionMs } from './lifecycle/congestion-deadline.ts'

/** A call that was refused for congestion itself: how often, and until when it is dialled again. */
export const ownCongestion = ({
  congestions,
  congested_since: since,
}: ExplainRow): ExplanationReason => {
  const often = congestions > 1 ? ` ${congestions} times` : ''
  const limit =
    since === null
      ? ''
      : `, until ${formatDateTime(new Date(since.getTime() + maxCongestionMs))} at least`
  return {
    code: 'carrier_congestion',
    message: `The carrier was congested${often}; the call is dialled again later${limit}.`,
  }
}

/** A queued call behind a trunk that dials fewer calls now. */
export const pacedTrunk = ({ pace, tokens }: ExplainRow): ExplanationReason | undefined => {
  if (pace === null || tokens >= 1) return undefined
  const { paced_per_second: paced, calls_per_second: full, reason, is_rising: isRising } = pace
  const outlook = isRising
    ? 'The pace rises while the carrier takes calls.'
    : 'The pace rises once the carrier takes a call.'
  return {
    code: 'carrier_congestion',
    message: `The carrier is congested, so that ${rounded(paced)} of ${full} calls per second are dialled. ${outlook} It said: ${reason}`,
    details: { calls_per_second: Number(rounded(paced)), allowed_calls_per_second: full },
  }
}

const rounded = (perSecond: number): string => String(Math.round(perSecond * 100) / 100)
