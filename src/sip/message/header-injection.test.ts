import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostileText, isHarmless } from '../../../tests/support/hostile-text.ts'
import { fc } from '../../../tests/support/properties.ts'
import { parseParameters, quote } from './header-syntax.ts'
import { emptyBody, serializeMessage, type Header, type SipMessage } from './message.ts'

const linesOf = (message: SipMessage): string[] =>
  serializeMessage(message).toString('utf8').split('\r\n')

const headersWith = (text: string): Header[] => [
  ['from', `${quote(text)} <sip:agent@example.org>;tag=1`],
  ['subject', text],
  ['refer-to', `<${text}>`],
  ['reason', `SIP;text=${quote(text)}`],
]

test('no foreign text begins a header field or ends the head', () =>
  fc.assert(
    fc.property(hostileText, (text) => {
      const rest = { headers: headersWith(text), body: emptyBody }
      const messages: SipMessage[] = [
        { kind: 'request', method: 'INVITE', uri: `sip:${text}@example.org`, ...rest },
        { kind: 'response', status: 400, reason: text, ...rest },
      ]
      for (const message of messages) {
        const lines = linesOf(message)
        const names = lines.slice(1, -2).map((line) => line.slice(0, line.indexOf(':')))
        assert.deepEqual(names, ['From', 'Subject', 'Refer-To', 'Reason', 'Content-Length'])
        assert.deepEqual(lines.slice(-2), ['', ''])
        for (const line of lines) assert.doesNotMatch(line, /[\r\n]/)
      }
    }),
  ))

test('no foreign text leaves its quotes, or hides a control character in them', () =>
  fc.assert(
    fc.property(hostileText, (text) => {
      assert.ok(isHarmless(quote(text)), JSON.stringify(text))
      const parameters = parseParameters(`text=${quote(text)};after=1`)
      assert.deepEqual([...(parameters?.keys() ?? [])], ['text', 'after'])
      assert.equal(parameters?.get('after'), '1')
    }),
  ))
