import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OrganizationId } from '../../src/contract/organization-id.ts'
import { checkPolicyFile } from '../../src/domains/organizations/calling-policy.ts'
import { claimCallBack } from '../../src/domains/calls-back/calls-back-store.ts'
import { isOnDoNotCallList } from '../../src/domains/organizations/do-not-call.ts'
import { previewPolicy } from '../../src/domains/calls/preview-policy.ts'
import { newId } from '../../src/runtime/ids.ts'
import { startComposedConsole, type Browser } from '../support/composed-console.ts'
import { createOrganizationFixture } from '../support/organization-fixture.ts'

let app: Awaited<ReturnType<typeof startComposedConsole>>
let organizationId: OrganizationId
let placeCall: (phoneNumber: string) => Promise<string>
let admin: Browser
let operator: Browser

before(async () => {
  app = await startComposedConsole()
  const fixture = await createOrganizationFixture(app.db)
  organizationId = fixture.organizationId
  placeCall = (number) => fixture.placeCall(number)
  admin = (await app.signInAs(organizationId, 'admin', 'admin@policy.test')).browser
  operator = (await app.signInAs(organizationId, 'operator', 'operator@policy.test')).browser
})
after(() => app.stop())

const actions = async (): Promise<unknown[]> => {
  const { body } = await admin.send('GET', '/console/audit')
  return (body['data'] as { action: string }[]).map(({ action }) => action)
}

const everyDay = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const policyOf = (start: string, end: string, weekdays = everyDay) => ({
  time_zone: 'America/New_York',
  windows: [{ weekdays, start_time: start, end_time: end }],
  allowed_countries: ['US'],
})

test('what a policy would do to queued calls is counted by their hours, and nothing is changed', async () => {
  // Virginia, Virginia, California.
  for (const number of ['+17035550101', '+17035550102', '+14155550103']) await placeCall(number)
  const policies = {
    before: checkPolicyFile(policyOf('08:00', '21:00')),
    after: checkPolicyFile(policyOf('12:00', '21:00')),
  }
  // 10:00 in New York, 7:00 in California.
  const morning = await previewPolicy(
    app.db,
    organizationId,
    policies,
    new Date('2027-01-12T15:00:00Z'),
  )
  assert.deepEqual(morning, {
    queued: 3,
    open_before: 2,
    open_after: 0,
    would_wait: 2,
    would_ring: 0,
    would_ring_later: 3,
    without_opening: 0,
    scheduled: 0,
    scheduled_later: 0,
  })
  const holiday = {
    ...policyOf('08:00', '21:00'),
    holidays: [{ date: '2020-01-12', name: 'Founding day', every_year: true }],
  }
  const onHoliday = await previewPolicy(
    app.db,
    organizationId,
    { before: policies.before, after: checkPolicyFile(holiday) },
    new Date('2027-01-12T15:00:00Z'),
  )
  assert.deepEqual(
    [onHoliday.would_wait, onHoliday.would_ring_later, onHoliday.without_opening],
    [2, 3, 0],
  )
  const { before: early, after: late } = policies
  const swapped = { before: late, after: early }
  const noon = new Date('2027-01-12T16:30:00Z')
  const seen = await previewPolicy(app.db, organizationId, swapped, noon)
  assert.deepEqual([seen.would_wait, seen.would_ring, seen.open_after], [0, 3, 3])
  const wanted = policyOf('00:00', '24:00')
  const shown = await admin.send('POST', '/console/policy/preview', wanted)
  assert.deepEqual([shown.status, shown.body['queued'], shown.body['open_after']], [200, 3, 3])
  const policy = await admin.send('GET', '/console/policy')
  assert.notDeepEqual(policy.body, wanted)
  assert.ok(!(await actions()).includes('policy.change'))
  const refused = await admin.send('POST', '/console/policy/preview', policyOf('12:00', '11:00'))
  assert.equal(refused.status, 400)
})

test('the do-not-call list is searched, filled, and read on page by page', async () => {
  const number = '+12025550190'
  const added = await operator.send('POST', '/console/do-not-call', { phone_number: number })
  assert.equal(added.status, 201)
  assert.ok(await isOnDoNotCallList(app.db, organizationId, number))
  const many = Array.from({ length: 150 }, (_, at) => `+1415555${String(1000 + at)}`)
  const given = [...many, many[0] ?? '', number, '415 555 1000', 'phone_number']
  const done = await operator.send('POST', '/console/do-not-call/import', { phone_numbers: given })
  assert.deepEqual(done.body, { added: 150, known: 2, invalid: [152, 153] })
  const read = async (query: string) => {
    const { body } = await operator.send('GET', `/console/do-not-call${query}`)
    const numbers = (body['data'] as { phone_number: string }[]).map((each) => each.phone_number)
    return { numbers, next: body['next_after'] as string | null }
  }
  const first = await read('?digits=1415')
  assert.equal(first.numbers.length, 100)
  const rest = await read(`?digits=1415&after=${encodeURIComponent(first.next ?? '')}`)
  assert.deepEqual([...first.numbers, ...rest.numbers], many)
  assert.equal(rest.next, null)
  assert.deepEqual((await read('?digits=%2B1202')).numbers, [number])
  const removal = { phone_number: number }
  assert.equal((await operator.send('POST', '/console/do-not-call/remove', removal)).status, 200)
  assert.equal((await operator.send('POST', '/console/do-not-call/remove', removal)).status, 404)
  assert.ok(!(await isOnDoNotCallList(app.db, organizationId, number)))
  const { body } = await admin.send('GET', '/console/audit?target_type=do_not_call')
  assert.deepEqual(
    (body['data'] as { action: string }[]).map(({ action }) => action),
    ['do_not_call.remove', 'do_not_call.import', 'do_not_call.add'],
  )
  assert.ok(!JSON.stringify(body).includes(number))
})

test('the settings of the organization are those of org set, and each change is in the audit log', async () => {
  const change = {
    public_api_enabled: false,
    concurrency: 7,
    retention_days: 30,
    recording: 'never',
    rates: { read: 50 },
  }
  const changed = await admin.send('PATCH', '/console/organization', change)
  assert.equal(changed.status, 200)
  const { rates, ...rest } = changed.body as { rates: Record<string, number> }
  assert.deepEqual(
    [rest, rates['read'], rates['write']].map((each) =>
      typeof each === 'object'
        ? Object.fromEntries(Object.entries(each).filter(([name]) => name in change))
        : each,
    ),
    [
      { public_api_enabled: false, concurrency: 7, retention_days: 30, recording: 'never' },
      50,
      1500,
    ],
  )
  const forGood = await admin.send('PATCH', '/console/organization', { retention_days: null })
  assert.deepEqual([forGood.body['retention_days'], forGood.body['concurrency']], [null, 7])
  for (const bad of [{ concurrency: 0 }, { retention_days: -1 }, { rates: { read: 0 } }]) {
    const refused = await admin.send('PATCH', '/console/organization', bad)
    assert.ok([400, 409].includes(refused.status), JSON.stringify(refused.body))
  }
  assert.equal((await operator.send('PATCH', '/console/organization', change)).status, 403)
  assert.equal((await actions()).filter((each) => each === 'organization.change').length, 2)
})

test('calls back are set and listed; a viewer sees neither the callers nor where they are led', async () => {
  const forward = { calls_back: 'forward:+12025550123' }
  assert.equal((await admin.send('PATCH', '/console/organization', forward)).status, 200)
  for (const calls_back of ['forward:911', 'forward:+19005550123', 'decline:200', 'message:']) {
    const refused = await admin.send('PATCH', '/console/organization', { calls_back })
    assert.equal(refused.status, 409, calls_back)
  }
  const call = {
    id: newId(),
    organizationId,
    mergeKey: newId(),
    trunk: 'carrier',
    phoneNumber: '+12025550142',
    calledNumber: '+12025550199',
    result: 'forwarded',
    sipStatus: 302,
  } as const
  assert.equal(await claimCallBack(app.db, call), true)
  assert.equal(await claimCallBack(app.db, { ...call, id: newId() }), false)
  const seen = async (browser: Browser) => {
    const { body } = await browser.send('GET', '/console/calls-back')
    const [row] = body['data'] as Record<string, unknown>[]
    const settings = await browser.send('GET', '/console/organization')
    return [row?.['phone_number'], row?.['called_number'], settings.body['calls_back']]
  }
  assert.deepEqual(await seen(operator), ['+12025550142', '+12025550199', forward.calls_back])
  const viewer = (await app.signInAs(organizationId, 'viewer', 'viewer@policy.test')).browser
  assert.deepEqual(await seen(viewer), ['+1•••42', '+12025550199', 'forward:•••'])
  const other = await createOrganizationFixture(app.db)
  const stranger = (await app.signInAs(other.organizationId, 'owner', 'owner@other.test')).browser
  assert.deepEqual((await stranger.send('GET', '/console/calls-back')).body['data'], [])
  const none = await admin.send('PATCH', '/console/organization', { calls_back: null })
  assert.equal(none.body['calls_back'], null)
})
