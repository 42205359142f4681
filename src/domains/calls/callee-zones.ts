import { weekdays, type WeeklyWindow } from '../organizations/calling-policy.ts'
import { timeZonesOfNumber } from '../organizations/time-zones-of-number.ts'

/** All hours: which zones a number may be in is a fact about the number; the policy decides when the lane opens. */
const allHours: readonly WeeklyWindow[] = [{ weekdays, startTime: '00:00', endTime: '24:00' }]

/** Where a callee may be, as lanes are divided by; undefined: judged in the organization's zone. */
export const zonesOfCallee = (phoneNumber: string): readonly string[] | undefined =>
  timeZonesOfNumber(phoneNumber, allHours)
