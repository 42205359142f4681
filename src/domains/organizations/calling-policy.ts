import { z } from 'zod'
import { isCountry } from '../../numbering/countries.ts'
import { checkFile } from './invalid-file.ts'
import { dayOfDate, type Holiday } from '../../calling-hours/holidays.ts'
import { weekdays, type WeeklyWindow } from '../../calling-hours/weekly-window.ts'
import { leastDigitsOfNumber, readTransferTarget } from './transfer-target.ts'
import { uniqueItems } from '../../contract/duplicates.ts'
import { isTimeZone } from '../../contract/time-zone.ts'

/** When, where and how often an organization may call (D12). */
export interface CallingPolicy {
  /** IANA zone for numbers without a place. */
  readonly timeZone: string
  /** Judged in the callee's zone. With several windows, one open window suffices. */
  readonly windows: readonly WeeklyWindow[]
  /** Days of the callee's calendar on which nobody is called. Absent: none. */
  readonly holidays?: readonly Holiday[]
  /** ISO 3166 codes. */
  readonly allowedCountries: readonly string[] | 'all'
  /** Per number and day of the callee; absent: no limit. */
  readonly attemptsPerNumberPerDay?: number
  /**
   * ISO 3166 code of the country whose prefixes are used to read transfer targets without `+`; absent: the only
   * allowed country.
   */
  readonly country?: string
  /** Extensions that an agent may transfer to: `200` at any host, `200@pbx.example.com` at one. Absent: none. */
  readonly allowedExtensions?: readonly string[]
}

const maxWindows = 50

const startTime = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'It must be a time from 00:00 to 23:59.')
const endTime = z
  .string()
  .regex(/^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/, 'It must be a time from 00:01 to 24:00.')

const windowSchema = z
  .strictObject({
    weekdays: uniqueItems(z.array(z.enum(weekdays)).min(1).max(weekdays.length), {
      keyOf: (day) => day,
      message: 'This day is named already.',
    }),
    start_time: startTime,
    end_time: endTime,
  })
  .refine((window) => window.end_time > window.start_time, {
    path: ['end_time'],
    message: 'It must be later than start_time.',
    // Errors of its days.
    when: ({ value }) => areBothTimes(value),
  })

const areBothTimes = (window: unknown): boolean => {
  const times = z.object({ start_time: startTime, end_time: endTime })
  return times.safeParse(window).success
}

const maxHolidays = 400
const maxHolidayName = 100

const holidaySchema = z.strictObject({
  date: z
    .string()
    .refine(
      (date) => dayOfDate(date) !== undefined,
      'It must be a day of the calendar, such as "2026-12-25".',
    ),
  name: z.string().trim().min(1).max(maxHolidayName).optional(),
  every_year: z.boolean().optional(),
})

/** A day once and the same day of every year are two holidays, one of which says nothing: only equals are refused. */
const holidayKey = (holiday: unknown): unknown => {
  const parsed = holidaySchema.safeParse(holiday)
  if (!parsed.success) return undefined
  return parsed.data.every_year ? parsed.data.date.slice(5) : parsed.data.date
}

const countrySchema = z
  .string()
  .refine(isCountry, 'It must be a two-letter ISO 3166 country code in capitals, such as "US".')

const maxExtensions = 100

const extensionSchema = z
  .string()
  .max(255)
  .refine(
    (entry) => readExtension(entry),
    `It must be an extension of fewer than ${leastDigitsOfNumber} digits, such as "200", "desk" or "200@pbx.example.com".`,
  )

const readExtension = (entry: string): boolean => {
  const target = readTransferTarget(`sip:${entry}${entry.includes('@') ? '' : '@any'}`)
  return !('problem' in target) && target.kind === 'extension' && target.transport === undefined
}

const policySchema = z.strictObject({
  time_zone: z
    .string()
    .refine(isTimeZone, 'It must be the name of an IANA time zone, such as "Europe/Berlin".'),
  windows: z.array(windowSchema).min(1).max(maxWindows),
  holidays: uniqueItems(z.array(holidaySchema).max(maxHolidays), {
    keyOf: holidayKey,
    path: 'date',
    message: 'This day is named already.',
  }).optional(),
  allowed_countries: z.union([z.literal('all'), z.array(countrySchema).min(1).max(300)], {
    error: ({ input }) =>
      input === undefined ? 'It is required.' : 'It must be "all" or a list of country codes.',
  }),
  attempts_per_number_per_day: z.int().min(1).max(1000).optional(),
  country: countrySchema.optional(),
  allowed_extensions: z.array(extensionSchema).max(maxExtensions).optional(),
})

/** The policy in the format of files and of the database. */
export type CallingPolicyJson = z.infer<typeof policySchema>

/** Checks a policy file; throws `InvalidFileError` with a path and a sentence for each problem. */
export const checkPolicyFile = (file: unknown): CallingPolicy =>
  policyOfJson(checkFile(policySchema, file))

/** Parses the stored form. */
export const policyOfJson = (json: CallingPolicyJson): CallingPolicy => ({
  timeZone: json.time_zone,
  windows: json.windows.map((window) => ({
    weekdays: window.weekdays,
    startTime: window.start_time,
    endTime: window.end_time,
  })),
  ...(json.holidays &&
    json.holidays.length > 0 && {
      holidays: json.holidays.map(({ date, name, every_year: everyYear }) => ({
        date,
        ...(name !== undefined && { name }),
        ...(everyYear && { everyYear }),
      })),
    }),
  allowedCountries: json.allowed_countries,
  ...(json.attempts_per_number_per_day !== undefined && {
    attemptsPerNumberPerDay: json.attempts_per_number_per_day,
  }),
  ...(json.country !== undefined && { country: json.country }),
  ...(json.allowed_extensions && { allowedExtensions: json.allowed_extensions }),
})

/** Converts to the stored form. */
export const policyToJson = (policy: CallingPolicy): CallingPolicyJson => ({
  time_zone: policy.timeZone,
  windows: policy.windows.map((window) => ({
    weekdays: [...window.weekdays],
    start_time: window.startTime,
    end_time: window.endTime,
  })),
  ...(policy.holidays && {
    holidays: policy.holidays.map(({ date, name, everyYear }) => ({
      date,
      ...(name !== undefined && { name }),
      ...(everyYear && { every_year: true }),
    })),
  }),
  allowed_countries: policy.allowedCountries === 'all' ? 'all' : [...policy.allowedCountries],
  ...(policy.attemptsPerNumberPerDay !== undefined && {
    attempts_per_number_per_day: policy.attemptsPerNumberPerDay,
  }),
  ...(policy.country !== undefined && { country: policy.country }),
  ...(policy.allowedExtensions && { allowed_extensions: [...policy.allowedExtensions] }),
})

/**
 * The policy of a new organization (D12, D14). It may call only the United States, so a number without a place is
 * one of their toll-free numbers, judged by eastern time.
 */
export const defaultPolicy: CallingPolicy = {
  timeZone: 'America/New_York',
  windows: [{ weekdays, startTime: '08:00', endTime: '21:00' }],
  allowedCountries: ['US'],
}

/** The sandbox organization's policy: all hours, all countries. */
export const sandboxPolicy: CallingPolicy = {
  timeZone: 'UTC',
  windows: [{ weekdays, startTime: '00:00', endTime: '24:00' }],
  allowedCountries: 'all',
}
