import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  checkPolicyFile,
  defaultPolicy,
  policyOfJson,
  policyToJson,
  sandboxPolicy,
} from './calling-policy.ts'
import { InvalidFileError } from './invalid-file.ts'

const file = {
  time_zone: 'Europe/Berlin',
  windows: [{ weekdays: ['monday', 'friday'], start_time: '08:00', end_time: '24:00' }],
  allowed_countries: ['US', 'DE'],
  attempts_per_number_per_day: 3,
}

const [window] = file.windows

/** The problems of the file with some members replaced, as `path: sentence`. */
const problemsOf = (members: object): string[] => {
  try {
    checkPolicyFile({ ...file, ...members })
  } catch (error) {
    assert.ok(error instanceof InvalidFileError)
    return error.problems.map(({ path, message }) => `${path}: ${message}`)
  }
  return []
}

describe('a policy file', () => {
  it('becomes a policy and is stored as it was written', () => {
    const policy = checkPolicyFile(file)
    assert.deepEqual(policy, {
      timeZone: 'Europe/Berlin',
      windows: [{ weekdays: ['monday', 'friday'], startTime: '08:00', endTime: '24:00' }],
      allowedCountries: ['US', 'DE'],
      attemptsPerNumberPerDay: 3,
    })
    assert.deepEqual(policyToJson(policy), file)
  })

  it('may allow every country and omit the limit of attempts', () => {
    const { attempts_per_number_per_day: _, ...unlimited } = file
    const policy = checkPolicyFile({ ...unlimited, allowed_countries: 'all' })
    assert.equal(policy.allowedCountries, 'all')
    assert.equal('attemptsPerNumberPerDay' in policy, false)
  })

  it('keeps holidays as they were written', () => {
    const holidays = [
      { date: '2026-12-25', name: 'Christmas Day', every_year: true },
      { date: '2027-02-28' },
    ]
    const withHolidays = { ...file, holidays }
    const policy = checkPolicyFile(withHolidays)
    assert.deepEqual(policy.holidays, [
      { date: '2026-12-25', name: 'Christmas Day', everyYear: true },
      { date: '2027-02-28' },
    ])
    assert.deepEqual(policyToJson(policy), withHolidays)
    assert.equal('holidays' in checkPolicyFile({ ...file, holidays: [] }), false)
  })

  const noDay = 'It must be a day of the calendar, such as "2026-12-25".'
  for (const date of [
    '2026-02-29',
    '2026-02-31',
    '2026-13-01',
    '12-25',
    '2026-1-1',
    '2026-12-25T00',
  ])
    it(`refuses ${date} as a holiday`, () => {
      assert.deepEqual(problemsOf({ holidays: [{ date }] }), [`holidays[0].date: ${noDay}`])
    })

  it('refuses the same holiday twice', () => {
    const yearly = { date: '2026-12-25', every_year: true }
    const again = { date: '2027-12-25', every_year: true }
    assert.deepEqual(problemsOf({ holidays: [yearly, { date: '2026-12-25' }] }), [])
    assert.deepEqual(problemsOf({ holidays: [yearly, again] }), [
      'holidays[1].date: This day is named already.',
    ])
  })

  const required = 'It is required.'
  const refused: readonly [string, object, string[]][] = [
    [
      'a zone that is none',
      { time_zone: 'Mars/Olympus' },
      ['time_zone: It must be the name of an IANA time zone, such as "Europe/Berlin".'],
    ],
    [
      'an offset',
      { time_zone: '+02:00' },
      ['time_zone: It must be the name of an IANA time zone, such as "Europe/Berlin".'],
    ],
    [
      'an abbreviation',
      { time_zone: 'EST' },
      ['time_zone: It must be the name of an IANA time zone, such as "Europe/Berlin".'],
    ],
    ['a zone left out', { time_zone: undefined }, [`time_zone: ${required}`]],
    ['no windows', { windows: [] }, ['windows: It must have at least 1 item.']],
    ['windows that are no list', { windows: {} }, ['windows: It must be a list.']],
    [
      'an end before the start',
      { windows: [{ ...window, end_time: '07:00' }] },
      ['windows[0].end_time: It must be later than start_time.'],
    ],
    [
      'an end at the start',
      { windows: [window, { ...window, end_time: '08:00' }] },
      ['windows[1].end_time: It must be later than start_time.'],
    ],
    [
      '24:00 as a start',
      { windows: [{ ...window, start_time: '24:00' }] },
      ['windows[0].start_time: It must be a time from 00:00 to 23:59.'],
    ],
    [
      'a short hour',
      { windows: [{ ...window, start_time: '8:00' }] },
      ['windows[0].start_time: It must be a time from 00:00 to 23:59.'],
    ],
    [
      '24:01',
      { windows: [{ ...window, end_time: '24:01' }] },
      ['windows[0].end_time: It must be a time from 00:01 to 24:00.'],
    ],
    [
      'a day twice',
      { windows: [{ ...window, weekdays: ['monday', 'monday'] }] },
      ['windows[0].weekdays[1]: This day is named already.'],
    ],
    [
      'everything wrong with a window at once',
      {
        windows: [
          { weekdays: ['Monday', 'friday', 'friday'], start_time: '17:00', end_time: '09:00' },
        ],
      },
      [
        'windows[0].weekdays[0]: It must be one of "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday".',
        'windows[0].weekdays[2]: This day is named already.',
        'windows[0].end_time: It must be later than start_time.',
      ],
    ],
    [
      'no day',
      { windows: [{ ...window, weekdays: [] }] },
      ['windows[0].weekdays: It must have at least 1 item.'],
    ],
    [
      'a member too many',
      { windows: [{ ...window, zone: 'UTC' }], extra: 1 },
      [
        'windows[0].zone: There is no member of this name.',
        'extra: There is no member of this name.',
      ],
    ],
    [
      'a country in small letters',
      { allowed_countries: ['us'] },
      [
        'allowed_countries[0]: It must be a two-letter ISO 3166 country code in capitals, such as "US".',
      ],
    ],
    ['no country', { allowed_countries: [] }, ['allowed_countries: It must have at least 1 item.']],
    [
      'a word that is not "all"',
      { allowed_countries: 'some' },
      ['allowed_countries: It must be "all" or a list of country codes.'],
    ],
    ['countries left out', { allowed_countries: undefined }, [`allowed_countries: ${required}`]],
    [
      'no attempt',
      { attempts_per_number_per_day: 0 },
      ['attempts_per_number_per_day: It must be at least 1.'],
    ],
    [
      'half an attempt',
      { attempts_per_number_per_day: 1.5 },
      ['attempts_per_number_per_day: It must be a whole number.'],
    ],
  ]
  for (const [what, members, problems] of refused) {
    it(`is refused for ${what}`, () => assert.deepEqual(problemsOf(members), problems))
  }

  it('names the unknown day', () => {
    const [problem] = problemsOf({ windows: [{ ...window, weekdays: ['mon'] }] })
    assert.match(problem ?? '', /^windows\[0\]\.weekdays\[0\]: It must be one of "monday", /)
  })

  for (const value of [null, 3, 'policy', []]) {
    it(`is refused as ${JSON.stringify(value)}`, () => {
      assert.throws(() => checkPolicyFile(value), { message: 'It must be an object.' })
    })
  }
})

describe('the built-in policies', () => {
  it('pass the check of policy files', () => {
    for (const policy of [defaultPolicy, sandboxPolicy]) {
      assert.deepEqual(checkPolicyFile(policyToJson(policy)), policy)
      assert.deepEqual(policyOfJson(policyToJson(policy)), policy)
    }
  })

  it('are those of D12 and D14', () => {
    assert.deepEqual(defaultPolicy.allowedCountries, ['US'])
    assert.deepEqual(
      defaultPolicy.windows.map(({ startTime, endTime }) => [startTime, endTime]),
      [['08:00', '21:00']],
    )
    assert.equal(defaultPolicy.windows[0]?.weekdays.length, 7)
    assert.equal(sandboxPolicy.allowedCountries, 'all')
  })
})
