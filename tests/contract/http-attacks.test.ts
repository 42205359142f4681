import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, test } from 'node:test'

const mebibyte = 1024 * 1024
/** The maximum cost of one attack. Each test notes the earlier cost. */
const maxGrowth = 150 * mebibyte

interface Memory {
  readonly memory: number
  readonly most: number
}

let child: ChildProcess
let port: number
let key: string
/** Of another organization. */
let otherKey: string
let calm: number

const ask = async <T>(): Promise<T> => {
  const answered = once(child, 'message') as Promise<[T]>
  child.send('memory')
  return (await answered)[0]
}

before(async () => {
  child = fork(join(import.meta.dirname, '../support/attacked-api.ts'))
  const [told] = (await once(child, 'message')) as [{ port: number; key: string; otherKey: string }]
  ;({ port, key, otherKey } = told)
  // Lazy initialization is not part of an attack.
  for (const path of ['/docs/scalar.js', '/openapi.json']) await (await get(path)).bytes()
})
after(async () => {
  child.disconnect()
  await once(child, 'exit')
})
beforeEach(async () => {
  calm = (await ask<Memory>()).memory
})

const get = (path: string) =>
  fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${key}` } })

const open = async (localAddress = '127.0.0.1'): Promise<Socket> => {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  opened.add(socket)
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

const openMany = (count: number, localAddress?: string): Promise<Socket[]> =>
  Promise.all(Array.from({ length: count }, () => open(localAddress)))

/** Sockets that are closed after each test, whatever its result. */
const opened = new Set<Socket>()
afterEach(async () => {
  await closeAll([...opened])
  opened.clear()
})

const closeAll = async (sockets: readonly Socket[]): Promise<void> => {
  await Promise.all(
    sockets.map(async (socket) => {
      if (socket.closed) return
      socket.destroy()
      await once(socket, 'close')
    }),
  )
}

const assertBounded = async (): Promise<void> => {
  assert.equal((await get('/healthz')).status, 200)
  const growth = (await ask<Memory>()).most - calm
  assert.ok(growth < maxGrowth, `it took ${Math.round(growth / mebibyte)} MiB`)
}

const contact = JSON.stringify({ external_id: 'e', name: 'n', phone_number: '+12025550100' })

/** A contact in a body of the maximum size. */
const postLarge = (ofKey: string) =>
  fetch(`http://127.0.0.1:${port}/contacts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ofKey}`, 'content-type': 'application/json' },
    body: contact.padEnd(mebibyte, ' '),
  })

/** Resolves when this many bytes have arrived in all. */
const receive = (socket: Socket, bytes: number): Promise<void> =>
  new Promise((resolve) => {
    let left = bytes
    socket.on('data', (chunk) => {
      left -= chunk.length
      if (left <= 0) resolve()
    })
  })

const request = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`

test('a thousand pipelined requests for a large page cost one page', async () => {
  // 3 GB before: each request had a copy of the page.
  const page = (await (await get('/docs/scalar.js')).bytes()).length
  const socket = await open()
  socket.write(request('/docs/scalar.js').repeat(1_000))
  await receive(socket, 20 * page)
  await assertBounded()
})

test('pipelined requests get their responses one after the other, each of them', async () => {
  const socket = await open()
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
  const paths = ['/healthz', '/nowhere', '/readyz'].flatMap((path) => Array<string>(200).fill(path))
  socket.end(
    paths.map(request).join('') + request('/healthz').replace('Host', 'Connection: close\r\nHost'),
  )
  await once(socket, 'end')
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)
  assert.deepEqual(statuses, [
    ...Array<string>(200).fill('200'),
    ...Array<string>(200).fill('404'),
    ...Array<string>(201).fill('200'),
  ])
})

test('300 clients that do not read large responses have a bounded cost', async () => {
  // 1.1 GB before.
  const sockets = await openMany(300)
  for (const [at, socket] of sockets.entries()) {
    socket.pause()
    socket.write(request(at % 2 === 0 ? '/agents' : '/docs/scalar.js').repeat(100))
  }
  await Promise.all(sockets.map((socket) => once(socket, 'readable')))
  await assertBounded()
})

test('300 heads and bodies that never end have a bounded cost, and others are served', async () => {
  // 180 MB before: data read before the sum was bounded waited for the garbage collector.
  const sockets = await openMany(300)
  const start = `POST /contacts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`
  const half = sockets.length / 2
  await Promise.all(
    sockets.map(async (socket, at) => {
      const bytes =
        at < half
          ? `${start}X-Filler: ${'x'.repeat(15_000)}`
          : `${start}Content-Length: 1048576\r\n\r\n${' '.repeat(1_048_000)}`
      if (!socket.write(bytes)) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
    }),
  )
  const honest = await postLarge(otherKey)
  assert.equal(honest.status, 201)
  await assertBounded()
})

test('all complete large bodies are read, however many arrive at once', async () => {
  const answers = await Promise.all(Array.from({ length: 60 }, () => postLarge(key)))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
  await assertBounded()
})

test('a body in 200,000 pieces costs as much as a whole one', async () => {
  const sockets = await openMany(5)
  const start = `POST /contacts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
  const bytes = start + '1\r\n \r\n'.repeat(200_000)
  await Promise.all(
    sockets.map(async (socket) => {
      if (!socket.write(bytes)) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
    }),
  )
  await assertBounded()
})

test('an address with too many connections loses the idle ones, and no other address does', async () => {
  const elsewhere = await open('127.0.0.3')
  const first = await open('127.0.0.2')
  const firstClosed = once(first, 'close')
  const others = await openMany(100, '127.0.0.2')
  await firstClosed
  // The newest connection works, and so does a stranger's that was idle all the time.
  for (const socket of [others.at(-1) ?? first, elsewhere]) {
    socket.write(request('/healthz'))
    const [answer] = (await once(socket, 'data')) as [Buffer]
    assert.match(answer.toString('latin1'), /^HTTP\/1\.1 200/)
  }
})

test('this machine, where a proxy brings all its clients, has no cap of its own', async () => {
  const sockets = await openMany(150)
  const [first] = sockets
  assert.ok(first)
  first.write(request('/healthz'))
  await once(first, 'data')
})
