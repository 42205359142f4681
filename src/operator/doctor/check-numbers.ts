import type { Queryable } from '../../database/database.ts'
import { listTroubledNumbers } from '../../domains/numbers/troubled-numbers.ts'
import { maskedNumber } from '../../domains/organizations/do-not-call.ts'
import { warning, type Finding } from './finding.ts'

/** Reports numbers that look spoiled, or whose trunk is gone. Empty too where the database has no table for it yet. */
export const checkNumbers = async (db: Queryable): Promise<Finding[]> => {
  const troubled = await listTroubledNumbers(db).catch(() => [])
  return troubled.map(({ organization, phone_number: number, reason, is_resting: isResting }) =>
    warning(
      'numbers',
      `The number ${maskedNumber(number)} of ${organization}: ${reason} ${
        isResting
          ? 'It rests.'
          : 'Let it rest with number rest, ask its carrier, or go on with number resume.'
      }`,
    ),
  )
}
