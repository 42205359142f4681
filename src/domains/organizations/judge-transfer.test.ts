import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { fc } from '../../../tests/support/properties.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { defaultPolicy, sandboxPolicy, type CallingPolicy } from './calling-policy.ts'
import { createOrganization } from './create-organization.ts'
import { addDoNotCall } from './do-not-call.ts'
import { judgeTransfer, judgeTransferNow } from './judge-transfer.ts'

const us: CallingPolicy = { ...defaultPolicy, allowedExtensions: ['100', 'desk@pbx.example.com'] }
const german: CallingPolicy = { ...defaultPolicy, allowedCountries: ['DE'] }
const everywhere: CallingPolicy = { ...sandboxPolicy, allowedExtensions: ['911', '100', '9112'] }

describe('a transfer target that the policy allows', () => {
  const targets: readonly [string, string, CallingPolicy][] = [
    ['+12025550177', '+12025550177', us],
    ['tel:+1-202-555-0177', '+12025550177', us],
    ['tel:2025550177;phone-context=+1', '+12025550177', us],
    ['sip:+12025550177@pbx.example.com', 'sip:+12025550177@pbx.example.com', us],
    ['SIP:%2B1(202)555-0177@pbx.example.com:5070', 'sip:+12025550177@pbx.example.com:5070', us],
    ['sip:2025550177@10.0.0.5;user=phone', 'sip:+12025550177@10.0.0.5', us],
    ['sip:0012025550177@[::1]', 'sip:+12025550177@[::1]', us],
    ['sip:12025550177@pbx;transport=TLS', 'sip:+12025550177@pbx;transport=tls', us],
    ['sip:030 12345678@pbx'.replace(' ', '%20'), 'sip:+493012345678@pbx', german],
    ['sip:00493012345678@pbx', 'sip:+493012345678@pbx', german],
    ['sip:100@pbx.example.com', 'sip:100@pbx.example.com', us],
    ['sip:desk@PBX.example.com', 'sip:desk@PBX.example.com', us],
  ]
  for (const [text, target, policy] of targets) {
    it(`becomes ${target} from ${text}`, () => {
      const verdict = judgeTransfer(text, policy)
      assert.equal('problem' in verdict ? verdict.problem : verdict.target, target)
    })
  }
})

describe('a transfer target that is refused', () => {
  const targets: readonly [string, RegExp, CallingPolicy?][] = [
    ['+19005550100', /Premium-rate/],
    ['sip:+19005550100@trunk', /Premium-rate/],
    ['sip:+1-900-555-1234@trunk', /Premium-rate/],
    ['sip:%2b1%39005551234@trunk', /Premium-rate/],
    ['sip:%2b31900123456@trunk', /Premium-rate/],
    ['sip:0031900123456@trunk', /Premium-rate/],
    ['sip:01119005551234@trunk', /Premium-rate/],
    ['sip:01119005551234@trunk', /Premium-rate/, german],
    ['sip:01119005551234@trunk', /Premium-rate/, sandboxPolicy],
    ['sip:9005551234@trunk', /Premium-rate/],
    ['sip:19005551234@trunk;user=phone', /Premium-rate/],
    ['sip:09001234567@trunk', /Premium-rate/, german],
    ['tel:1234567;phone-context=+1-900', /Premium-rate/],
    ['sip:5551234;phone-context=%2b1900@trunk', /Premium-rate/],
    ['tel:+881612345678', /Satellite/, sandboxPolicy],
    ['+493012345678', /not enabled/],
    ['sip:493012345678@trunk', /not enabled/],
    ['sip:911@trunk', /emergency services are never/, everywhere],
    ['sip:%39%31%31@trunk', /emergency services are never/, everywhere],
    ['sip:9-1-1@trunk', /emergency services are never/, everywhere],
    ['sip:9911@trunk', /emergency services are never/, everywhere],
    ['sip:+1911@trunk', /emergency services are never/],
    ['sip:0112@trunk', /emergency services are never/, everywhere],
    ['sip:01144999@trunk', /emergency services are never/, everywhere],
    ['tel:911;phone-context=+1', /emergency services are never/],
    ['tel:112', /emergency services are never/],
    ['sip:000@trunk', /emergency services are never/],
    ['sip:999@trunk', /emergency services are never/],
    ['sip:110@trunk', /emergency services are never/],
    ['sip:9112@trunk', /emergency services are never/, everywhere],
    ['sip:101@trunk', /allowed_extensions/],
    ['sip:desk@other.example.com', /allowed_extensions/],
    ['sip:desk@pbx.example.com:5070', /allowed_extensions/],
    ['tel:100', /host/],
    ['sip:100@trunk;user=phone', /user=phone/],
    ['sip:trunk', /user/],
    ['sip:@trunk', /user/],
    ['sip:1@2@trunk', /user/],
    ['sip:100:secret@trunk', /password/],
    ['sip:100@trunk?Replaces=x', /character/],
    ['sip:100@trunk>', /character/],
    ['sip:100%3fx@trunk', /character/],
    ['sip:100%3bx@trunk', /character/],
    ['sip:100%253b@trunk', /character/],
    ['sip:100%0d%0a@trunk', /character/],
    ['sip:%D9%A9%D9%A1%D9%A1@trunk', /character/],
    ['sip:\u0669\u0661\u0661@trunk', /character/],
    ['+1\uff19005551234', /character/],
    ['sip:%zz@trunk', /character/],
    ['sip:*67911@trunk', /character/],
    ['sip:100@trunk;lr', /parameters/],
    ['sip:+12025550177;postd=900@trunk', /phone-context/],
    ['sip:+12025550177;phone-context=example.com@trunk', /phone-context/],
    ['sip:1900CALLNOW@trunk', /digits/],
    ['sip:tel9005551234@trunk', /digits/],
    ['sip:100@trunk:99999', /host/],
    ['sip:100@tr%75nk', /host/],
    ['http://example.com', /E\.164/],
    ['desk', /E\.164/],
    ['', /E\.164/],
    [`sip:${'1'.repeat(300)}@trunk`, /255/],
    [`sip:${'1'.repeat(30)}@trunk`, /digits/],
    ['sip:20255501@trunk', /as it is dialled/],
  ]
  for (const [text, problem, policy = us] of targets) {
    it(`is ${JSON.stringify(text).slice(0, 60)}`, () => {
      const verdict = judgeTransfer(text, policy)
      assert.match('problem' in verdict ? verdict.problem : `allowed as ${verdict.target}`, problem)
    })
  }
})

it('the judged result contains only an address', () => {
  const piece = fc.constantFrom(
    ...'sip: tel: +1 2025550177 100 @pbx %3e % ; ? > " desk - ('.split(' '),
    ...';transport=udp ;user=phone ;phone-context=+1'.split(' '),
    '\u0661',
    '\r\n',
    ' ',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const verdict = judgeTransfer(pieces.join(''), us)
      const target = 'problem' in verdict ? '+1' : verdict.target
      assert.match(target, /^(?:\+\d+|sip:[A-Za-z0-9+]+@pbx(?:;transport=udp)?)$/)
    }),
    { numRuns: 5000 },
  )
})

describe('a transfer target of an organization', () => {
  let database: TestDatabase
  before(async () => {
    database = await createTestDatabase()
  })
  after(() => database.drop())

  it('must not be on the do-not-call list', async () => {
    const { id } = await createOrganization(database.db, { name: 'Riverside Dental' })
    await addDoNotCall(database.db, id, '+12025550178')
    const verdict = await judgeTransferNow(database.db, id, 'sip:2025550178@pbx')
    assert.match('problem' in verdict ? verdict.problem : '', /do-not-call/)
    assert.deepEqual(await judgeTransferNow(database.db, id, '+12025550177'), {
      target: '+12025550177',
      number: '+12025550177',
    })
  })
})
