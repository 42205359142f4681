import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { serveOneAtATime } from './one-at-a-time.ts'

let running = 0
let mostRunning = 0
const server = createServer()
serveOneAtATime(server)
server.on('request', (request, response) => {
  running += 1
  mostRunning = Math.max(mostRunning, running)
  response.once('finish', () => (running -= 1))
  const answer = (body: string) =>
    response.end(`<${request.method} ${request.url} ${JSON.stringify(body)}>`)
  void text(request).then(answer)
})

before(() => once(server.listen(0, '127.0.0.1'), 'listening'))
after(() => {
  server.closeAllConnections()
  server.close()
})

/** The responses to bytes that arrive in these pieces, each a separate read. */
const responsesTo = async (pieces: readonly string[]): Promise<readonly string[]> => {
  const accepted = once(server, 'connection')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [socket] = (await accepted) as [Socket]
  for (const piece of pieces) socket.emit('data', Buffer.from(piece, 'latin1'))
  const said = await text(client)
  return said.match(/<[^>]*>/g) ?? []
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
const last = 'GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

test('requests on one connection run one at a time, however they were cut by reads', async () => {
  const all = [
    get('/1'),
    '\r\n\r\nPOST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\n\r\n\r\nGET ',
    'POST /3 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n4\r\n\r\n\r\n\r\n2;x=y\r\nab\r\n0\r\nX: y\r\n\r\n',
    'POST /4 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n',
    get('/5'),
    last,
  ].join('')
  for (let size = 1; size <= all.length; size += size < 70 ? 1 : 50) {
    const pieces = Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
      all.slice(at * size, (at + 1) * size),
    )
    assert.deepEqual(
      await responsesTo(pieces),
      [
        '<GET /1 "">',
        String.raw`<POST /2 "\r\n\r\nGET ">`,
        String.raw`<POST /3 "\r\n\r\nab">`,
        '<POST /4 "">',
        '<GET /5 "">',
        '<GET /last "">',
      ],
      `in pieces of ${size}`,
    )
  }
  assert.equal(mostRunning, 1)
})

test('a thousand pipelined requests get their responses in order', async () => {
  const paths = Array.from({ length: 1000 }, (_, at) => `/${at}`)
  const answers = await responsesTo([paths.map(get).join('') + last])
  assert.deepEqual(answers, [...paths.map((path) => `<GET ${path} "">`), '<GET /last "">'])
})

test('a client that pipelines endlessly while its request runs is cut off', async () => {
  let release = (): void => {}
  const held = createServer((_request, response) => {
    release = () => response.end()
  })
  serveOneAtATime(held)
  await once(held.listen(0, '127.0.0.1'), 'listening')
  const accepted = once(held, 'connection')
  const client = connect((held.address() as AddressInfo).port, '127.0.0.1')
  client.on('error', () => {})
  const [socket] = (await accepted) as [Socket]
  const flood = Buffer.from(get('/').repeat(2_000))
  for (let bytes = 0; bytes <= 512 * 1024; bytes += flood.length) socket.emit('data', flood)
  assert.ok(socket.destroyed)
  release()
  held.close()
})
