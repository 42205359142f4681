import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { audioSdp, call, startAgent } from '../../../tests/support/sip/test-agents.ts'
import { MessageFramer } from '../message/message-framer.ts'
import { headerOf, serializeMessage, type SipRequest } from '../message/message.ts'
import { parseMessage } from '../message/parse-message.ts'
import { createResponse } from '../message/responses.ts'

test('a live call sends its new Contact when the connection that its Contact named is gone', async (t) => {
  const contacts: string[] = []
  const sockets: Socket[] = []
  const refreshed = Promise.withResolvers<SipRequest>()
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    const framer = new MessageFramer(() => {})
    socket.on('data', (bytes: Buffer) => {
      for (const each of framer.push(bytes)) {
        const parsed = parseMessage(each)
        if (!parsed.ok || parsed.message.kind === 'response') continue
        const request = parsed.message
        if (request.method === 'ACK') continue
        contacts.push(headerOf(request, 'contact') ?? '')
        const { port } = server.address() as AddressInfo
        const isInvite = request.method === 'INVITE'
        socket.write(
          serializeMessage(
            createResponse(request, 200, {
              toTag: 'a',
              headers: [['contact', `<sip:b@127.0.0.1:${port};transport=tcp>`]],
              ...(isInvite ? { body: audioSdp() } : {}),
            }),
          ),
        )
        if (isInvite && sockets.length === 2) refreshed.resolve(request)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const caller = await startAgent(t)
  const result = await call(caller, `sip:+12025550100@127.0.0.1:${port};transport=tcp`)
  assert.ok(result.kind === 'answered')
  sockets[0]?.destroy()
  await refreshed.promise
  assert.equal(contacts.length, 2)
  assert.notEqual(contacts[0], contacts[1])
  assert.match(contacts[1] ?? '', new RegExp(`:${sockets[1]?.remotePort};transport=tcp`))
  await result.dialog.bye()
})
