import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startComposedConsole } from '../support/composed-console.ts'

let app: Awaited<ReturnType<typeof startComposedConsole>>

before(async () => {
  app = await startComposedConsole()
})
after(() => app.stop())

test('administrators manage the numbers of their own organization, and operators read them', async () => {
  const { id } = await app.createOrganization('Numbers')
  const { browser: admin } = await app.signInAs(id, 'admin', 'admin@numbers.test')
  const { browser: operator } = await app.signInAs(id, 'operator', 'operator@numbers.test')
  const send = (method: string, path: string, body?: object) =>
    admin.send(method, `/console/numbers${path}`, body)
  const number = { phone_number: '+12125550123' }

  const added = await send('POST', '', { ...number, calls_per_day: 5, rest_when_flagged: true })
  assert.equal(added.status, 201, JSON.stringify(added))
  assert.equal((await send('POST', '', number)).status, 409)
  const unknown = await send('POST', '', { phone_number: '+12125550124', trunk: 'none' })
  assert.deepEqual([unknown.status, unknown.code], [400, 'validation_error'])
  const changed = await send('PATCH', '', { ...number, calls_per_day: null })
  assert.deepEqual(
    [changed.body['calls_per_day'], changed.body['rest_when_flagged']],
    [null, true],
    'what is not given stays',
  )
  assert.equal(
    (await send('POST', '/rest', { ...number, until: '2020-01-01T00:00:00Z' })).status,
    409,
  )
  const rested = await send('POST', '/rest', { ...number, reason: 'Spam.' })
  assert.deepEqual([rested.body['state'], rested.body['reason']], ['resting', 'Spam.'])
  assert.equal((await send('POST', '/resume', number)).body['state'], 'active')

  const listed = await operator.send('GET', '/console/numbers')
  assert.deepEqual(
    (listed.body as unknown as { data: { phone_number: string }[] }).data.map(
      ({ phone_number: phoneNumber }) => phoneNumber,
    ),
    ['+12125550123'],
  )
  assert.equal((await operator.send('POST', '/console/numbers', number)).status, 403)

  const other = await app.createOrganization('Others')
  const { browser: stranger } = await app.signInAs(other.id, 'owner', 'owner@others.test')
  const nothing = await stranger.send('GET', '/console/numbers')
  assert.deepEqual(nothing.body['data'], [])
  assert.equal((await stranger.send('POST', '/console/numbers/remove', number)).status, 409)

  assert.equal((await send('POST', '/remove', number)).status, 200)
  const audit = await admin.send('GET', '/console/audit?target_type=number')
  const actions = (audit.body as unknown as { data: { action: string }[] }).data.map(
    ({ action }) => action,
  )
  assert.deepEqual(actions.toReversed(), [
    'number.add',
    'number.change',
    'number.rest',
    'number.resume',
    'number.remove',
  ])
})
