import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defaultPolicy } from '../../organizations/calling-policy.ts'
import { checkRows } from './check-rows.ts'
import { readCsv } from './contact-csv.ts'
import { describeProblems, type RowProblem } from './row-problems.ts'

const heading = 'external_id,name,phone_number\n'
const ada = 'a1,Ada,+12025550100\n'

/** Row, column and code of every error in a file. */
const problemsOf = (text: string): string[] => {
  const file = readCsv(text)
  const found: readonly RowProblem[] =
    'fault' in file
      ? file.fault
      : [...file.problems, ...checkRows(file.rows, { policy: defaultPolicy }).problems]
  for (const { message } of found) assert.match(message, /^[A-Z].*\.$/)
  return found.map(({ row, column, code }) => [row, column, code].filter(Boolean).join(' '))
}

const recipientsOf = (text: string) => {
  const file = readCsv(text)
  assert.ok('rows' in file, JSON.stringify(file))
  return checkRows(file.rows, { policy: defaultPolicy }).valid
}

describe('a file of recipients is read', () => {
  const person = { external_id: 'a1', name: 'Ada', phone_number: '+12025550100' }
  const readable: readonly [string, string, object][] = [
    ['with commas', heading + ada, {}],
    ['with semicolons', (heading + ada).replaceAll(',', ';'), {}],
    ['with tabs', (heading + ada).replaceAll(',', '\t'), {}],
    ['with a byte order mark', `\uFEFF${heading}${ada}`, {}],
    ['with the line ends of Windows', (heading + ada).replaceAll('\n', '\r\n'), {}],
    ['without a last line end', (heading + ada).trimEnd(), {}],
    ['with other spellings of the heading', `External ID,NAME, Phone-Number \n${ada}`, {}],
    ['with blanks around cells', `${heading} a1 , Ada ,\t+12025550100 \n`, {}],
    ['in another order', `phone_number,external_id,name\n+12025550100,a1,Ada\n`, {}],
    [
      'with a delimiter inside quotes of the heading’s rival',
      `external_id;name;phone_number;company\na1;Ada;+12025550100;A, B, C and D\n`,
      { company: 'A, B, C and D' },
    ],
    [
      'with line ends and quotes inside quotes',
      `${heading}a1,"Ada\n""Lady"" Lovelace",+12025550100\n`,
      { name: 'Ada\n"Lady" Lovelace' },
    ],
    [
      'with every field',
      `${heading.trim()},source,email,company,role,city,country\n${ada.trim()},crm,a@b.c,AE,CTO,London,GB\n`,
      { source: 'crm', email: 'a@b.c', company: 'AE', role: 'CTO', city: 'London', country: 'GB' },
    ],
    [
      'with empty optional cells, which change nothing',
      `${heading.trim()},city\n${ada.trim()},\n`,
      {},
    ],
    ['with fewer cells than the heading', `${heading.trim()},city\n${ada}`, {}],
    ['with empty columns at the right', `${heading.trim()},,\n${ada.trim()},,\n`, {}],
    ['with more empty cells than the heading', `${heading}${ada.trim()},,,\n`, {}],
  ]
  for (const [what, text, members] of readable) {
    it(what, () => {
      assert.deepEqual(recipientsOf(text), [
        { row: 2, input: { source: 'public_api', ...person, ...members } },
      ])
    })
  }

  const further: readonly [string, string, number][] = [
    ['with blank rows before the heading', `\n,,\n${heading}${ada}`, 4],
    [
      'with the delimiter told by its first line',
      `sep=;\n${(heading + ada).replaceAll(',', ';')}`,
      3,
    ],
    ['with that line after a byte order mark', `\uFEFFsep=,\r\n${heading}${ada}`, 3],
  ]
  for (const [what, text, row] of further) {
    it(what, () => {
      assert.deepEqual(recipientsOf(text), [{ row, input: { source: 'public_api', ...person } }])
    })
  }

  it('blank lines are skipped but counted, as a spreadsheet shows them', () => {
    const text = `${heading}\n${ada},,\na2,Grace,+12025550101\n`
    assert.deepEqual(
      recipientsOf(text).map(({ row }) => row),
      [3, 5],
    )
  })
})

describe('a bad file is refused with row, column and code', () => {
  const long = 'x'.repeat(256)
  const refused: readonly [string, string, readonly string[]][] = [
    ['that is empty', '', ['1 required']],
    [
      'without a required column',
      'external_id,city\na1,London\n',
      ['1 name required', '1 phone_number required'],
    ],
    ['with a column twice', `${heading.trim()},Name\n`, ['1 name duplicate_item']],
    ['with an unknown column', `${heading.trim()},Birthday\n`, ['1 Birthday unknown_field']],
    ['without a heading', ada, ['1 required']],
    [
      'with a cell below no heading',
      `${heading.trim()},\n${ada.trim()},more\n`,
      ['2 invalid_format'],
    ],
    ['with nothing but blank rows', '\n,,\n', ['1 required']],
    ['with an open quote', `${heading}a1,"Ada,+12025550100\n`, ['2 invalid_format']],
    ['with a stray quote', `${heading}a1,"Ada" L,+12025550100\n`, ['2 invalid_format']],
    ['with a cell too many', `${heading}a1,Ada,+12025550100,more\n`, ['2 invalid_format']],
    ['with an empty required cell', `${heading}a1,,+12025550100\n`, ['2 name required']],
    [
      'with a number that is no E.164',
      `${heading}a1,Ada,(202) 555-0100\n`,
      ['2 phone_number invalid_e164'],
    ],
    [
      'with a premium number',
      `${heading}a1,Ada,+19005551234\n`,
      ['2 phone_number unsupported_destination'],
    ],
    [
      'with a country not enabled',
      `${heading}a1,Ada,+493012345678\n`,
      ['2 phone_number unsupported_destination'],
    ],
    ['with a cell too long', `${heading}a1,${long},+12025550100\n`, ['2 name too_long']],
    ['with a NUL', `${heading}a1,A\u0000da,+12025550100\n`, ['2 name invalid_format']],
    [
      'with a bad source',
      `${heading.trim()},source\n${ada.trim()},CRM 1\n`,
      ['2 source invalid_format'],
    ],
    [
      'with a phone twice, however far apart',
      `${heading}${ada}a2,Grace,+12025550101\na3,Ada B,+12025550100\n`,
      ['4 phone_number duplicate_item'],
    ],
    [
      'with an identity twice',
      `${heading}${ada}a1,Grace,+12025550101\n`,
      ['3 external_id duplicate_item'],
    ],
    [
      'with many faults, all of them told',
      `${heading},,+1\na2,,x\n${ada}a1,Ada,+12025550100\n`,
      [
        '2 external_id required',
        '2 name required',
        '2 phone_number invalid_e164',
        '3 name required',
        '3 phone_number invalid_e164',
        '5 external_id duplicate_item',
        '5 phone_number duplicate_item',
      ],
    ],
  ]
  for (const [what, text, expected] of refused) {
    it(what, () => assert.deepEqual(problemsOf(text), expected))
  }

  it('a refused row reserves neither identity nor number against later rows', () => {
    const text = `${heading}a1,,+12025550100\n${ada}`
    assert.deepEqual(problemsOf(text), ['2 name required'])
    assert.equal(recipientsOf(text).length, 1)
  })

  it('is reported line by line, never with the content of a cell, and cut after a hundred', () => {
    const text = heading + Array.from({ length: 150 }, (_, row) => `a${row},Secret,555\n`).join('')
    const file = readCsv(text)
    assert.ok('rows' in file)
    const lines = describeProblems(checkRows(file.rows, { policy: defaultPolicy }).problems)
    assert.equal(lines.length, 101)
    assert.equal(
      lines[0],
      'row 2, phone_number: It must be E.164, such as +12025550100. (invalid_e164)',
    )
    assert.equal(lines[100], '… and 50 more.')
    assert.ok(!lines.some((line) => line.includes('Secret') || line.endsWith('555')))
  })
})
