import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OrganizationId } from '../../src/contract/organization-id.ts'
import { sql } from '../../src/database/database.ts'
import { purgeImports } from '../../src/domains/contacts/file/import-store.ts'
import { startComposedConsole, type Browser } from '../support/composed-console.ts'
import { createOrganizationFixture } from '../support/organization-fixture.ts'
import { until } from '../support/until.ts'

let app: Awaited<ReturnType<typeof startComposedConsole>>
let organizationId: OrganizationId
let agentId: string
let operator: Browser

before(async () => {
  app = await startComposedConsole()
  const fixture = await createOrganizationFixture(app.db)
  organizationId = fixture.organizationId
  agentId = fixture.agentId
  operator = (await app.signInAs(organizationId, 'operator', 'operator@imports.test')).browser
})
after(() => app.stop())

/** Uploads a text in parts of this many characters; the last answer. */
const upload = async (text: string, partLength = text.length || 1, browser = operator) => {
  const made = await browser.send('POST', '/console/imports', { file_name: 'people.csv' })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const path = `/console/imports/${String(made.body['id'])}`
  const count = Math.max(1, Math.ceil(text.length / partLength))
  let answer = made
  for (let position = 0; position < count && answer.status < 300; position += 1)
    answer = await browser.send('POST', `${path}/parts`, {
      position,
      text: text.slice(position * partLength, (position + 1) * partLength),
      is_last: position === count - 1,
    })
  return { path, answer }
}

const check = (path: string, members: object = {}, browser = operator) =>
  browser.send('POST', `${path}/check`, {
    mapping: ['external_id', 'name', 'phone_number'],
    purpose: 'contacts',
    ...members,
  })

interface RefusedRow {
  readonly row: number
  readonly verdict: string
  readonly cells: Record<string, string>
  readonly problems: readonly { readonly column: string; readonly code: string }[]
}

const refusedRows = async (path: string): Promise<readonly RefusedRow[]> =>
  (await operator.send('GET', `${path}/refused-rows`)).body['data'] as RefusedRow[]

const people = `Id;Full name;Phone
a1;Ada;+12025550100
a2;Grace;(202) 555-0101
a3;;+12025550102
a1;Ada again;+12025550103
a5;"Joan
Clarke";+12025550104
`

test('a file is uploaded in parts, checked, mended in place and imported', async () => {
  const { path, answer } = await upload(people, 7)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  const { status, row_count: rows, heading, mapping } = answer.body
  assert.deepEqual([status, rows, heading], ['read', 5, ['Id', 'Full name', 'Phone']])
  assert.deepEqual(mapping, ['external_id', 'name', 'phone_number'])
  const detail = await operator.send('GET', path)
  assert.deepEqual((detail.body['sample'] as string[][])[4], ['a5', 'Joan\nClarke', '+12025550104'])

  const checked = await check(path)
  assert.deepEqual(checked.body, { rows: 5, ready: 2, updated: 0, duplicate: 1, invalid: 2 })
  const told = await refusedRows(path)
  assert.deepEqual(
    told.map(({ row, verdict, problems }) => [row, verdict, problems.map(({ code }) => code)]),
    [
      [3, 'invalid', ['invalid_e164']],
      [4, 'invalid', ['required']],
      [5, 'duplicate', ['duplicate_item']],
    ],
  )
  assert.equal(told[0]?.cells['phone_number'], '(202) 555-0101')
  const early = await operator.send('POST', `${path}/commit`, {})
  assert.deepEqual([early.status, early.code], [409, 'resource_state_conflict'])

  const fixes = [
    { row: 4, cells: { name: 'Mary' } },
    { row: 5, cells: { external_id: 'a4' } },
  ]
  const mended = await check(path, { country: 'US', fixes })
  assert.deepEqual(mended.body, { rows: 5, ready: 5, updated: 0, duplicate: 0, invalid: 0 })
  const receipt = await operator.send('POST', `${path}/commit`, {})
  assert.deepEqual(receipt.body, { contacts: 5, new: 5, updated: 0 })
  const { body } = await operator.send('GET', '/console/contacts')
  const names = (body['data'] as { name: string }[]).map(({ name }) => name)
  assert.deepEqual(names.toSorted(), ['Ada', 'Ada again', 'Grace', 'Joan\nClarke', 'Mary'])
  assert.equal((await operator.send('GET', path)).status, 404)
})

test('without external ids the phone number says who a row is', async () => {
  const known = await upload('external_id,name,phone_number\nw1,Ada,+12025550160\n')
  await check(known.path)
  await operator.send('POST', `${known.path}/commit`, {})
  const text =
    'First name,Last name,Mobile,E-mail\nAda,Lovelace,+12025550160,ada@example.com\n' +
    ',Hopper,+12025550161,\nMary,,+12025550161,\n,,+12025550162,\n'
  const { path, answer } = await upload(text)
  const mapping = ['first_name', 'last_name', 'phone_number', 'email']
  assert.deepEqual(answer.body['mapping'], mapping)
  const { body } = await check(path, { mapping })
  assert.deepEqual(body, { rows: 4, ready: 2, updated: 1, duplicate: 1, invalid: 1 })
  assert.deepEqual(
    (await refusedRows(path)).map(({ row, problems }) => [row, problems[0]?.column]),
    [
      [4, 'phone_number'],
      [5, 'name'],
    ],
  )
  const receipt = await operator.send('POST', `${path}/commit`, { leave_out_refused: true })
  assert.deepEqual(receipt.body, { contacts: 2, new: 1, updated: 1 })
  const contacts = await app.db.rows<Record<string, unknown>>(
    sql(
      'test.importedByNumber',
      `select name, source, external_id, email from contacts
        where organization_id = $1 and phone_number = any($2) order by phone_number`,
    ),
    [organizationId, ['+12025550160', '+12025550161']],
  )
  // The known one keeps its identity; a caller may still give one to the new one (D4).
  assert.deepEqual(contacts, [
    { name: 'Ada Lovelace', source: 'public_api', external_id: 'w1', email: 'ada@example.com' },
    { name: 'Hopper', source: 'import', external_id: null, email: null },
  ])
  const later = await upload('external_id,name,phone_number\ncrm-7,Grace Hopper,+12025550161\n')
  assert.deepEqual((await check(later.path)).body['updated'], 1)
  const adopted = await operator.send('POST', `${later.path}/commit`, {})
  assert.deepEqual(adopted.body, { contacts: 1, new: 0, updated: 1 })

  const batchFile = await upload('Name;Tel\nJoan;+12025550163\nAda;+12025550160\n')
  await check(batchFile.path, { mapping: ['name', 'phone_number'], purpose: 'batch' })
  const drafted = await operator.send('POST', `${batchFile.path}/batches`, {
    name: 'By number',
    agent_id: agentId,
  })
  assert.equal(drafted.status, 201, JSON.stringify(drafted.body))
  const [batch] = drafted.body['data'] as { total_recipients: number }[]
  assert.equal(batch?.total_recipients, 2)
  const nameless = await upload('Phone\n+12025550163\n')
  assert.equal((await check(nameless.path, { mapping: ['phone_number'] })).status, 400)
})

/** What comes of the work on a large file. */
const endOfWork = (path: string): Promise<Record<string, unknown>> =>
  until(
    'the end of the work',
    async () => {
      const { status, body } = await operator.send('GET', `${path}/work`)
      assert.equal(status, 200, JSON.stringify(body))
      return body['status'] === 'running' ? undefined : body
    },
    { timeoutMs: 240_000, everyMs: 250 },
  )

test('a large file is checked and imported by work that outlasts its requests', async () => {
  const rows = 2_100
  const numbers = Array.from(
    { length: rows },
    (_, index) => `+1415555${String(1_0000 + index).slice(1)}`,
  )
  const lines = numbers.map((number, index) => `big${index},Person ${index},${number}`)
  lines[10] = 'big10,,+14155550010'
  const { path, answer } = await upload(
    `external_id,name,phone_number\n${lines.join('\n')}\n`,
    150_000,
  )
  assert.equal(answer.body['row_count'], rows, JSON.stringify(answer.body))
  assert.equal((await operator.send('GET', `${path}/work`)).body['status'], 'none')
  const counts = { rows, ready: rows - 1, updated: 0, duplicate: 0, invalid: 1 }
  const checked = await check(path)
  assert.equal(checked.status, 200, JSON.stringify(checked.body))
  assert.deepEqual((await endOfWork(path))['counts'], counts)
  assert.ok('ready' in checked.body || checked.body['status'] === 'running')
  // All or nothing: a refused row that may not be left out stops it, and nothing is imported.
  await operator.send('POST', `${path}/commit`, {})
  const refused = await endOfWork(path)
  assert.equal(refused['status'], 'failed')
  assert.deepEqual(refused['failure'], {
    code: 'resource_state_conflict',
    message: 'The file has rows that are refused.',
  })
  const known = () =>
    app.db.rows(
      sql(
        'test.bigContacts',
        `select from contacts where organization_id = $1 and external_id like 'big%'`,
      ),
      [organizationId],
    )
  assert.equal((await known()).length, 0)
  const first = operator.send('POST', `${path}/commit`, { leave_out_refused: true })
  const second = operator.send('POST', `${path}/commit`, { leave_out_refused: true })
  const statuses = (await Promise.all([first, second])).map(({ status }) => status)
  assert.ok(statuses.includes(200), statuses.join())
  const done = await endOfWork(path)
  if (done['status'] === 'done')
    assert.deepEqual(done['receipt'], { contacts: rows - 1, new: rows - 1, updated: 0 })
  assert.equal((await known()).length, rows - 1)
})

test('known contacts are counted as updated, conflicts as invalid', async () => {
  const first = await upload(
    'external_id,name,phone_number\nk1,Ada,+12025550110\nk2,B,+12025550111\n',
  )
  await check(first.path)
  await operator.send('POST', `${first.path}/commit`, {})
  const { path } = await upload(
    'external_id,name,phone_number\nk1,Ada L,+12025550110\nk9,X,+12025550111\nk3,New,+12025550112\n',
  )
  const { body } = await check(path)
  assert.deepEqual(body, { rows: 3, ready: 2, updated: 1, duplicate: 0, invalid: 1 })
  const [conflict] = await refusedRows(path)
  assert.deepEqual([conflict?.row, conflict?.problems[0]?.code], [3, 'contact_identity_conflict'])
  const rejected = await operator.send('GET', `${path}/refused-rows/export`)
  assert.equal(rejected.body['csv'], 'external_id,name,phone_number\nk9,X,+12025550111\n')
  const receipt = await operator.send('POST', `${path}/commit`, { leave_out_refused: true })
  assert.deepEqual(receipt.body, { contacts: 2, new: 1, updated: 1 })
})

test('a file becomes drafts of a thousand recipients', async () => {
  const lines = Array.from({ length: 1_001 }, (_, index) => `b${index},P,+1202556${1000 + index}`)
  const { path } = await upload(`external_id,name,phone_number\n${lines.join('\n')}`, 9_000)
  const draft = { name: 'From a file', agent_id: agentId }
  const unchecked = await operator.send('POST', `${path}/batches`, draft)
  assert.deepEqual([unchecked.status, unchecked.code], [409, 'resource_state_conflict'])
  const { body } = await check(path, { purpose: 'batch' })
  assert.deepEqual(body, { rows: 1_001, ready: 1_001, updated: 0, duplicate: 0, invalid: 0 })
  const importId = path.split('/').at(-1)
  const preview = await operator.send('POST', '/console/batch-windows/preview', {
    import_id: importId,
  })
  const [zone] = preview.body['zones'] as { time_zones: string[]; recipients: number }[]
  assert.deepEqual([zone?.time_zones, zone?.recipients], [['America/New_York'], 1_001])
  const made = await operator.send('POST', `${path}/batches`, draft)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const batches = made.body['data'] as { name: string; total_recipients: number }[]
  assert.deepEqual(
    batches.map(({ name, total_recipients: total }) => [name, total]),
    [
      ['From a file (1 of 2)', 1_000],
      ['From a file (2 of 2)', 1],
    ],
  )
})

test('the policy counts for a batch and not for contacts', async () => {
  const { path } = await upload('external_id,name,phone_number\np1,Berlin,+493012345678\n')
  assert.equal((await check(path)).body['ready'], 1)
  assert.equal((await check(path, { purpose: 'batch' })).body['invalid'], 1)
  assert.equal((await refusedRows(path))[0]?.problems[0]?.code, 'unsupported_destination')
  // Checked for a batch, it is no import of contacts.
  assert.equal((await operator.send('POST', `${path}/commit`, {})).status, 409)
})

test('unreadable files and wrong mappings are refused with what is wrong', async () => {
  const unreadable = ['', '\n\n,,\n', 'external_id,name\n"a,b\n', 'a,b\nx,y"z\n']
  for (const text of unreadable) {
    const { answer } = await upload(text)
    assert.deepEqual([answer.status, answer.code], [400, 'validation_error'], text)
  }
  const { path } = await upload('external_id,name,phone_number\nq1,Ada,+12025550120\n')
  const mappings = [
    [],
    ['external_id', 'name'],
    ['external_id', 'name', null],
    ['name', 'name', 'phone_number'],
    ['external_id', 'name', 'password'],
  ]
  for (const mapping of mappings)
    assert.equal((await check(path, { mapping })).status, 400, JSON.stringify(mapping))
  assert.equal((await check(path, { country: 'QQ' })).status, 400)
  const nowhere = await check(path, { fixes: [{ row: 99, cells: { name: 'X' } }] })
  assert.equal(nowhere.status, 409)
})

test('a part is read once, in order', async () => {
  const made = await operator.send('POST', '/console/imports', { file_name: 'a.csv' })
  const path = `/console/imports/${String(made.body['id'])}`
  const send = (position: number, text: string, is_last = false) =>
    operator.send('POST', `${path}/parts`, { position, text, is_last })
  assert.equal((await send(1, 'x')).status, 409)
  assert.equal((await send(0, 'external_id,name,phone_number\na,A,')).body['parts'], 1)
  assert.equal((await send(0, 'another')).body['parts'], 1)
  assert.equal((await check(path)).status, 409)
  const whole = await send(1, '+12025550130\r\n', true)
  assert.deepEqual([whole.body['row_count'], whole.body['status']], [1, 'read'])
  assert.equal((await send(2, 'more')).status, 409)
})

test('a file has bounds of bytes and rows', async () => {
  const made = await operator.send('POST', '/console/imports', { file_name: 'big.csv' })
  const id = String(made.body['id'])
  const path = `/console/imports/${id}/parts`
  await operator.send('POST', path, {
    position: 0,
    text: 'external_id,name,phone_number\na,A,+12025550131\n',
    is_last: false,
  })
  const next = { position: 1, text: 'b,B,+12025550132\n', is_last: false }
  const set = (sizeBytes: number, rows: number) =>
    app.db.run(
      sql('test.grow', 'update contact_imports set size_bytes = $2, row_count = $3 where id = $1'),
      [id, sizeBytes, rows],
    )
  await set(9_999_990, 1)
  const tooLarge = await operator.send('POST', path, next)
  assert.deepEqual([tooLarge.status, tooLarge.code], [413, 'request_too_large'])
  await set(100, 100_000)
  const tooMany = await operator.send('POST', path, next)
  assert.deepEqual([tooMany.status, tooMany.code], [413, 'request_too_large'])
  const long = { position: 1, text: 'x'.repeat(160_001), is_last: false }
  assert.equal((await operator.send('POST', path, long)).status, 400)
  const unclosed = { position: 1, text: `b,"${'y'.repeat(120_000)}`, is_last: false }
  await set(100, 1)
  assert.equal((await operator.send('POST', path, unclosed)).status, 400)
})

test('an account has one file at a time, and a file lasts a day', async () => {
  const first = await upload('external_id,name,phone_number\nz,Z,+12025550140\n')
  const second = await upload('external_id,name,phone_number\nz,Z,+12025550140\n')
  assert.equal((await operator.send('GET', first.path)).status, 404)
  await app.db.run(
    sql('test.age', `update contact_imports set created_at = now() - interval '25 hours'`),
    [],
  )
  assert.ok((await purgeImports(app.db, 10)) >= 1)
  assert.equal((await operator.send('GET', second.path)).status, 404)
})

test('an erased person is gone from files as well', async () => {
  const admin = (await app.signInAs(organizationId, 'admin', 'admin@imports.test')).browser
  const person = { external_id: 'e1', name: 'Eve', phone_number: '+12025550150' }
  const made = await admin.send('POST', '/console/contacts', person)
  const { path } = await upload(
    'external_id,name,phone_number\ne1,Eve,+12025550150\ne2,Bob,+12025550151\n',
  )
  await admin.send('POST', `/console/contacts/${String(made.body['id'])}/erase`, {})
  const { body } = await operator.send('GET', path)
  assert.deepEqual(body['sample'], [['e2', 'Bob', '+12025550151']])
})
