import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../tests/support/test-database.ts'
import { createOrganization } from '../domains/organizations/create-organization.ts'
import { addDoNotCall } from '../domains/organizations/do-not-call.ts'
import { numberOf, transferProblem } from './transfer-target.ts'

describe('the number a transfer target stands for', () => {
  for (const [target, number] of [
    ['+12025550177', '+12025550177'],
    ['sip:+12025550177@pbx.example.com', '+12025550177'],
    ['sips:%2B12025550177;phone-context=x@pbx.example.com', '+12025550177'],
    ['sip:0012025550177:secret@pbx.example.com', '+12025550177'],
    ['sip:100@pbx.example.com', undefined],
    ['sip:desk@pbx.example.com', undefined],
    ['sip:pbx.example.com', undefined],
  ] as const) {
    it(`is ${number ?? 'none'} for ${target}`, () => assert.equal(numberOf(target), number))
  }
})

describe('a transfer target', () => {
  let database: TestDatabase
  let organizationId: string
  before(async () => {
    database = await createTestDatabase()
    const organization = await createOrganization(database.db, { name: 'Riverside Dental' })
    organizationId = organization.id
  })
  after(() => database.drop())

  it('may be a number of an enabled country, or an extension', async () => {
    for (const target of ['+12025550177', 'sip:100@pbx.example.com']) {
      assert.equal(await transferProblem(database.db, organizationId, target), undefined)
    }
  })

  it('may not cost money, lie abroad unasked, or have asked not to be called', async () => {
    await addDoNotCall(database.db, organizationId, '+12025550178')
    for (const [target, problem] of [
      ['+19005550100', /Premium-rate/],
      ['sip:+19005550100@pbx.example.com', /Premium-rate/],
      ['+493012345678', /not enabled/],
      ['+12025550178', /do-not-call/],
    ] as const) {
      assert.match((await transferProblem(database.db, organizationId, target)) ?? '', problem)
    }
  })
})
