import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCallBackAnswer } from './calls-back.ts'

test('each way of answering is read', () => {
  assert.deepEqual(readCallBackAnswer('decline'), { kind: 'decline', status: 603 })
  assert.deepEqual(readCallBackAnswer('decline:480'), { kind: 'decline', status: 480 })
  assert.deepEqual(readCallBackAnswer('message: Call 9: later.'), {
    kind: 'message',
    text: 'Call 9: later.',
  })
  for (const to of [
    '+12025550123',
    'sip:200@pbx.example.com',
    'sips:a@[2001:db8::1]:5061;transport=tls',
  ])
    assert.deepEqual(readCallBackAnswer(`forward:${to}`), { kind: 'forward', to })
})

test('anything else is refused with a sentence', () => {
  for (const written of [
    '',
    'Decline',
    'decline:200',
    'decline:',
    'message:',
    'message:a\r\nContact: <sip:x@y>',
    `message:${'a'.repeat(1_001)}`,
    'forward:911',
    'forward:12025550123',
    'forward:sip:a@b>;c',
    'forward:sip:a:secret@b',
    'forward:sip:a@b?Route=x',
    'ring',
  ])
    assert.equal(typeof readCallBackAnswer(written), 'string', written.slice(0, 40))
})
