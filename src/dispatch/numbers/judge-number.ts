/* Whether a number looks spoiled: carriers refuse it, or people no longer take its calls. No I/O. */

interface Results {
  readonly calls: number
  /** By a person. */
  readonly answered: number
}

interface NumberResults {
  /** Today and yesterday. */
  readonly recent: Results & {
    /** SIP 603. */
    readonly declined: number
    /** SIP 607 and 608. */
    readonly rejected: number
  }
  /** The seven days before. */
  readonly before: Results
}

/**
 * 607 (RFC 8197) is a person's or a carrier's word that calls of this number are unwanted, and 608 (RFC 8688) a
 * carrier's analysis that refuses them. One may be a slip of a thumb; two are none.
 */
const leastRejected = 2

/**
 * 603 is also what a phone sends when its owner declines, and some carriers send it in place of 608. Owners decline a
 * tenth of the calls of a stranger, seldom a fifth. So a third of the calls, and ten of them, are no longer the owners.
 */
const leastDeclined = 10
const declinedShare = 1 / 3

/**
 * A label such as "Spam likely" halves the share of people who answer. Less than half of the week before is told only
 * where chance would do it once in a thousand times or less (three standard errors), and never on few calls.
 */
const leastRecent = 50
const leastBefore = 100
const remainingShare = 1 / 2
const leastDeviations = 3

/** One sentence, or undefined for a number that looks well. */
export const judgeNumber = ({ recent, before }: NumberResults): string | undefined => {
  const { calls, declined, rejected } = recent
  if (rejected >= leastRejected)
    return `Carriers or callees refused ${rejected} of its last ${calls} calls as unwanted (SIP 607 or 608).`
  if (declined >= leastDeclined && declined >= calls * declinedShare)
    return `${declined} of its last ${calls} calls were declined (SIP 603), which is more than people decline.`
  if (hasFallen(recent, before))
    return `${percent(recent)} of its last ${calls} calls were answered, and ${percent(before)} in the week before.`
  return undefined
}

const hasFallen = (recent: Results, before: Results): boolean => {
  if (recent.calls < leastRecent || before.calls < leastBefore) return false
  const [now, then] = [shareOf(recent), shareOf(before)]
  if (now >= then * remainingShare) return false
  const common = (recent.answered + before.answered) / (recent.calls + before.calls)
  const error = Math.sqrt(common * (1 - common) * (1 / recent.calls + 1 / before.calls))
  return then - now >= leastDeviations * error
}

const shareOf = ({ calls, answered }: Results): number => answered / calls

const percent = (results: Results): string => `${Math.round(shareOf(results) * 100)} %`
