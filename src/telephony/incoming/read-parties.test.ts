import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyBody, type Header, type SipRequest } from '../../sip/message/message.ts'
import { readCalled, readCaller } from './read-parties.ts'

const invite = (uri: string, headers: readonly Header[] = []): SipRequest => ({
  kind: 'request',
  method: 'INVITE',
  uri,
  headers: [['to', '<sip:desk@trunk.test>'], ...headers],
  body: emptyBody,
})

const calledOf = (uri: string) => readCalled(invite(uri))[0]

test('the called number is read in each notation of trunks', () => {
  assert.deepEqual(calledOf('sip:+12025550199@a.test')?.e164, ['+12025550199'])
  assert.deepEqual(calledOf('sip:0012025550199@a.test')?.e164, ['+12025550199'])
  assert.deepEqual(calledOf('sip:01112025550199@a.test')?.e164, ['+12025550199'])
  assert.deepEqual(calledOf('sip:12025550199;npdi@a.test:5060;user=phone')?.e164, ['+12025550199'])
  assert.deepEqual(calledOf('sip:%2B12025550199@a.test')?.e164, ['+12025550199'])
  assert.deepEqual(calledOf('tel:+1-202-555-0199;phone-context=x')?.e164, ['+12025550199'])
  assert.deepEqual(calledOf('sip:account-7@a.test'), { text: 'account-7', e164: [] })
})

test('what is no number names nothing', () => {
  for (const uri of [
    'sip:a.test',
    `sip:${'1'.repeat(65)}@a.test`,
    'sip:%0d%0a@a.test',
    'sip:%zz@a.test',
  ])
    assert.deepEqual(
      readCalled(invite(uri)).map(({ text }) => text),
      ['desk'],
      uri,
    )
})

test('the asserted caller is preferred to From, and digits of any country stay as they are', () => {
  const from = ['from', '"Ada" <sip:2025550142@a.test>;tag=1'] as const
  const asserted = ['p-asserted-identity', '<tel:+12025550143>'] as const
  assert.equal(readCaller(invite('sip:a.test', [from, asserted])), '+12025550143')
  assert.equal(readCaller(invite('sip:a.test', [from])), '2025550142')
  assert.equal(
    readCaller(invite('sip:a.test', [['from', '<sip:0012025550142@a.test>;tag=1']])),
    '+12025550142',
  )
})

test('a withheld caller stays withheld', () => {
  const from = ['from', '"Anonymous" <sip:anonymous@anonymous.invalid>;tag=1'] as const
  const asserted = ['p-asserted-identity', '<sip:+12025550143@a.test>'] as const
  assert.equal(readCaller(invite('sip:a.test', [from])), undefined)
  assert.equal(
    readCaller(invite('sip:a.test', [from, asserted, ['privacy', 'user;id']])),
    undefined,
  )
})
