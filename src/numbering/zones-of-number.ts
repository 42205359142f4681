import { isTimeZone } from '../contract/time-zone.ts'
import { findPlannedNumber } from './numbering-plan.ts'
import { zonesOfPrefixes } from './zones-of-prefixes.ts'

/** Longest prefix in the table: a calling code and the digits that determine the zone. */
const maxPrefixLength = 15

/**
 * The possible IANA zones of a callee with this E.164 number, sorted. Undefined for a number without a place:
 * toll-free, or of an unknown range. Such a number is judged in the organization's zone (D12). With several
 * possible zones, all must be open.
 */
export const zonesOfNumber = (phoneNumber: string): readonly string[] | undefined => {
  const number = findPlannedNumber(phoneNumber)
  if (number === undefined || number.type === 'TOLL_FREE') return undefined
  const zones = zonesByPrefix(phoneNumber.slice(1))
  return zones === undefined || zones.length === 0 ? undefined : zones
}

const zonesByPrefix = (digits: string): readonly string[] | undefined => {
  table ??= readTable()
  for (let length = Math.min(maxPrefixLength, digits.length); length > 0; length -= 1) {
    const zones = table.get(digits.slice(0, length))
    if (zones) return zones
  }
  return undefined
}

/** 3,291 prefixes in 317 lists of zones; parsed at the first number. */
let table: ReadonlyMap<string, readonly string[]> | undefined

const readTable = (): ReadonlyMap<string, readonly string[]> => {
  const isKnown = createZoneCheck()
  return new Map(
    zonesOfPrefixes
      .trim()
      .split('\n')
      .flatMap((line) => {
        const [names = '', ...prefixes] = line.split(' ')
        const zones = names.split('&').filter(isKnown).toSorted()
        return prefixes.map((prefix) => [prefix, zones] as const)
      }),
  )
}

/** Whether this machine knows the zone. Many lines repeat a zone, and asking Intl takes 0.1 ms. */
const createZoneCheck = (): ((name: string) => boolean) => {
  const known = new Map<string, boolean>()
  return (name) => {
    const isKnown = known.get(name) ?? isTimeZone(name)
    known.set(name, isKnown)
    return isKnown
  }
}
