import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { test } from 'node:test'
import { startAgent } from '../../../tests/support/sip/test-agents.ts'
import { tortureBytes, tortureMessages } from '../../../tests/support/sip/torture-messages.ts'

test('there are as many messages as in RFC 4475', () => {
  const own = tortureMessages.filter(({ section }) => !section.startsWith('5118'))
  assert.equal(own.length, 49)
})

for (const message of tortureMessages) {
  if (message.answer === undefined) continue
  const rfc = message.section.startsWith('5118') ? 'RFC' : 'RFC 4475'
  test(`${rfc} ${message.section} ${message.name} gets ${message.answer}`, async (t) => {
    const agent = await startAgent(t)
    const socket = createSocket('udp4').bind(0, '127.0.0.1')
    await once(socket, 'listening')
    t.after(() => socket.close())
    // With rport, so that the response comes back here.
    const text = tortureBytes(message)
      .toString()
      .replace(/(\r\nVia: [^;\r]*)/, '$1;rport')
    socket.send(text, agent.localPort, '127.0.0.1')
    const [answer] = (await once(socket, 'message')) as [Buffer]
    assert.equal(answer.toString('latin1', 0, 11), `SIP/2.0 ${message.answer}`)
  })
}
