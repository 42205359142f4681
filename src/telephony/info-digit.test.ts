import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SipRequest } from '../sip/message/message.ts'
import { digitOfInfo } from './info-digit.ts'

const info = (type: string, body: string): SipRequest => ({
  kind: 'request',
  method: 'INFO',
  uri: 'sip:a@b',
  headers: [['content-type', type]],
  body: Buffer.from(body),
})

test('a key is read from both gateway formats', () => {
  const relays = ['Signal=5\r\nDuration=160', 'Duration=160\nsignal = 5', ' SIGNAL= 5 \r\n']
  for (const body of relays) assert.equal(digitOfInfo(info('application/dtmf-relay', body)), '5')
  assert.equal(digitOfInfo(info('application/DTMF; charset=x', ' d\r\n')), 'D')
  assert.equal(digitOfInfo(info('application/dtmf', '10')), '*')
  assert.equal(digitOfInfo(info('application/dtmf-relay', 'Signal=11')), '#')
})

test('other text is not a key', () => {
  for (const body of [
    '',
    'Signal',
    'Signal=',
    'Signal=55',
    'NoSignal=5',
    `Signal=5${' '.repeat(2000)}`,
  ])
    assert.equal(digitOfInfo(info('application/dtmf-relay', body)), undefined)
  assert.equal(digitOfInfo(info('text/plain', '5')), undefined)
})
