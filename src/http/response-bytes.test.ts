import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { endWithText } from './response-bytes.ts'
import { serveOneAtATime } from './connections/one-at-a-time.ts'

/** More than the system buffers for a client that does not read. */
const responsesOfEach = 40
const clients = 4

/** Of varying length, in characters of two bytes. */
const textOf = (client: number, turn: number): string =>
  String.fromCodePoint(0xc0 + ((client * responsesOfEach + turn) % 64)).repeat(
    20_000 + 17_000 * ((client + turn) % 30),
  )

test('responses in reused buffers reach each client unchanged, also late readers', async (t) => {
  const server = createServer((request, response) => {
    const [, client, turn] = (request.url ?? '').split('/').map(Number)
    const text = textOf(client ?? 0, turn ?? 0)
    const bytes = Buffer.byteLength(text)
    response.sendDate = false
    response.setHeader('Content-Length', bytes)
    endWithText(response, text, bytes)
  })
  serveOneAtATime(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const sockets: Socket[] = []
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const asked = Array.from({ length: clients }, async (_, client) => {
    const socket = connect({ port, host: '127.0.0.1' })
    sockets.push(socket)
    await once(socket, 'connect')
    socket.pause()
    for (let turn = 0; turn < responsesOfEach; turn += 1)
      socket.write(`GET /${client}/${turn} HTTP/1.1\r\nHost: x\r\n\r\n`)
    return socket
  })
  await Promise.all(
    (await Promise.all(asked)).map(async (socket, client) => {
      // Its responses are blocked until it reads.
      await once(socket, 'readable')
      const bodies = Array.from({ length: responsesOfEach }, (_, turn) => textOf(client, turn))
      const expected = bodies.map((body) => headOf(body) + body).join('')
      assert.ok((await readBytes(socket, Buffer.byteLength(expected))) === expected)
    }),
  )
})

const headOf = (body: string): string =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\n\r\n`

const readBytes = async (socket: Socket, bytes: number): Promise<string> => {
  const chunks: Buffer[] = []
  let read = 0
  for await (const chunk of socket) {
    chunks.push(chunk as Buffer)
    read += (chunk as Buffer).length
    if (read >= bytes) break
  }
  return Buffer.concat(chunks).toString('utf8')
}
