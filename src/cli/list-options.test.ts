import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { fc } from '../../tests/support/properties.ts'
import { csvOf, readPages } from './list-options.ts'

test('cells that a spreadsheet would run are quoted, phone numbers are not', () => {
  const resource = {
    name: '=HYPERLINK("http://example.test";"Ada")',
    company: '@SUM(1)',
    role: ' +1-2',
    city: '＝1',
    phone_number: '+12025550100',
    missing: undefined,
  }
  assert.equal(
    csvOf([resource]),
    `name,company,role,city,phone_number,missing\n` +
      `"'=HYPERLINK(""http://example.test"";""Ada"")",'@SUM(1),' +1-2,'＝1,+12025550100,`,
  )
})

test('resources with other members share the columns', () => {
  assert.equal(csvOf([{ a: 1 }, { b: { c: 2 } }]), 'a,b\n1,\n,"{""c"":2}"')
})

test('for any content of cells, a reader gets the same number of rows and columns, on separate lines', () => {
  const cells = fc.record({ a: fc.string({ unit: 'binary' }), b: fc.string() })
  fc.assert(
    fc.property(fc.array(cells, { minLength: 1 }), (rows) => {
      const csv = csvOf(rows)
      assert.equal(csv.split('\n').length, rows.length + 1)
      assert.equal(parse(csv, { relax_column_count: false }).length, rows.length + 1)
    }),
  )
})

test('pages are read until the end or the limit', async () => {
  const asked: [number, number | undefined][] = []
  const read = (limit: number, cursor: number | undefined) => {
    asked.push([limit, cursor])
    const from = cursor ?? 0
    const rows = Array.from({ length: Math.min(limit, 450 - from) }, (_, index) => from + index)
    const next = from + rows.length
    return Promise.resolve({ rows, next: next < 450 ? next : null })
  }
  assert.equal((await readPages(1000, read)).length, 450)
  assert.deepEqual(asked, [
    [200, undefined],
    [200, 200],
    [200, 400],
  ])
  assert.equal((await readPages(250, read)).length, 250)
})
