import type { DestinationProblem } from './destination-ranges.ts'
import { specialRanges } from './special-ranges.ts'

type SpecialProblem = Extract<
  DestinationProblem,
  | 'premium_rate'
  | 'shared_cost'
  | 'personal_number'
  | 'pager'
  | 'corporate_number'
  | 'voicemail_access'
>

const problems: readonly SpecialProblem[] = [
  'premium_rate',
  'shared_cost',
  'personal_number',
  'pager',
  'corporate_number',
  'voicemail_access',
]

interface SpecialRange {
  readonly problem: SpecialProblem
  readonly prefixes: readonly string[]
}

/**
 * The kind of an unassigned number inside special ranges. A fraudster's number is often too short, too long or of
 * an unknown exchange, and is still charged by its first digits. `digits`: E.164 without `+`.
 */
export const specialNumberProblem = (digits: string): DestinationProblem | undefined => {
  // Calling codes have one to three digits, and none is a prefix of another (ITU-T E.164).
  for (const length of [1, 2, 3]) {
    const ranges = rangesByCallingCode.get(digits.slice(0, length))
    if (ranges === undefined) continue
    const national = digits.slice(length)
    return ranges.find(({ prefixes }) => prefixes.some((prefix) => national.startsWith(prefix)))
      ?.problem
  }
  return undefined
}

const readRanges = (): ReadonlyMap<string, readonly SpecialRange[]> => {
  const found = new Map<string, SpecialRange[]>()
  for (const line of specialRanges.trim().split('\n')) {
    const [callingCode = '', name, ...prefixes] = line.split(' ')
    const problem = problems.find((each) => each === name)
    if (problem === undefined) throw new Error(`special-ranges.ts has an unknown reason: ${name}`)
    found.set(callingCode, [...(found.get(callingCode) ?? []), { problem, prefixes }])
  }
  return found
}

const rangesByCallingCode = readRanges()
