import assert from 'node:assert/strict'
import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { createManualTime } from '../../../tests/support/manual-time.ts'
import { audioSdp, call, startAgent, startPeer } from '../../../tests/support/sip/test-agents.ts'
import { headerOf, type SipRequest } from '../message/message.ts'
import { parseMessage } from '../message/parse-message.ts'

/** A peer that answers an INVITE with bytes that the test writes, and reads what comes next. */
const openRawPeer = async (t: TestContext) => {
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => socket.close())
  const waiting: string[] = []
  let remote: RemoteInfo | undefined
  socket.on('message', (bytes, from) => {
    remote = from
    waiting.push(bytes.toString())
    socket.emit('text')
  })
  const next = async (start: RegExp): Promise<string> => {
    for (;;) {
      const at = waiting.findIndex((text) => start.test(text))
      const [found] = at < 0 ? [] : waiting.splice(at, 1)
      if (found !== undefined) return found
      await once(socket, 'text', { signal: AbortSignal.timeout(60_000) })
    }
  }
  return {
    port: socket.address().port,
    next,
    send: (text: string) => {
      assert.ok(remote)
      socket.send(text.replaceAll(/\r?\n/g, '\r\n'), remote.port, remote.address)
    },
  }
}

const requestIn = (text: string): SipRequest => {
  const parsed = parseMessage(Buffer.from(text))
  return parsed.ok && parsed.message.kind === 'request' ? parsed.message : assert.fail(text)
}

const oddAnswers: Readonly<Record<string, (peer: number, invite: SipRequest) => string>> = {
  'unquoted names in other scripts': (peer, invite) => `SIP/2.0 200 OK
Via: ${headerOf(invite, 'via')}
From: ${headerOf(invite, 'from')}
To: Zoë Müller <${target(peer)}>;tag=odd
Call-ID: ${headerOf(invite, 'call-id')}
CSeq: 1 INVITE
Contact: Müller, Zoë <sip:zoe@127.0.0.1:${peer}>
Content-Type: application/sdp

${audioSdp()}`,
  'compact names, folded lines, no Content-Length': (peer, invite) => `SIP/2.0 200
v: ${headerOf(invite, 'via')?.replaceAll(';', '\n ;')}
f: ${headerOf(invite, 'from')}
t:
 <${target(peer)}>
 ;tag=odd
i: ${headerOf(invite, 'call-id')}
CSeq: 1
  INVITE
m: <sip:zoe@127.0.0.1:${peer}>
c: application/sdp

${audioSdp()}`,
  'a line that is no header, a repeated field, an open quote': (peer, invite) => `SIP/2.0 200 OK
Via: ${headerOf(invite, 'via')}
From: ${headerOf(invite, 'from')}
To: "Zoë <${target(peer)}>;tag=odd
Call-ID: ${headerOf(invite, 'call-id')}
CSeq: 1 INVITE
this is no header
Max-Forwards: 70
Max-Forwards: seventy
Record-Route: <<>>
Contact: <sip:zoe@127.0.0.1:${peer}>
Content-Length: 99999
Content-Type: application/sdp

${audioSdp()}`,
}

const target = (port: number): string => `sip:+12025550100@127.0.0.1:${port}`

for (const [what, answer] of Object.entries(oddAnswers)) {
  test(`a 200 with ${what} is acknowledged, and its BYE is heard`, async (t) => {
    const [agent, peer] = [await startAgent(t), await openRawPeer(t)]
    const result = call(agent, target(peer.port))
    const invite = requestIn(await peer.next(/^INVITE /))
    peer.send(answer(peer.port, invite))
    const ack = requestIn(await peer.next(/^ACK /))
    assert.match(headerOf(ack, 'to') ?? '', /;tag=odd$/)
    const outcome = await result
    assert.ok(outcome.kind === 'answered')
    peer.send(`BYE sip:outdial@127.0.0.1 SIP/2.0
Via: SIP/2.0/UDP 127.0.0.1:${peer.port};branch=z9hG4bKodd;rport
From: Zoë Müller <${target(peer.port)}>;tag=odd
To: ${headerOf(invite, 'from')}
Call-ID: ${headerOf(invite, 'call-id')}
CSeq: 9 BYE

`)
    await peer.next(/^SIP\/2\.0 200 /)
    assert.deepEqual(await outcome.dialog.ended, { by: 'remote' })
  })
}

test('early dialogs end after a CANCEL that has no response', async (t) => {
  const time = createManualTime()
  const agent = await startAgent(t, { time })
  const peer = await startPeer(t)
  const abort = new AbortController()
  const result = call(agent, peer.target, {}, abort.signal)
  const invite = await peer.nextRequest('INVITE')
  peer.reply(invite, 183, { toTag: 'early', body: audioSdp() })
  abort.abort()
  await peer.nextRequest('CANCEL')
  time.advance(64 * 500)
  assert.equal((await result).kind, 'cancelled')
  // The dialog is gone: a request inside it finds none.
  peer.request('UPDATE', invite, { tag: 'early', sequence: 1, body: audioSdp() })
  await peer.next('481 UPDATE')
})
