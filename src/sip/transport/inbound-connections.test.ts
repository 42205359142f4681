import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { createInboundConnections } from './inbound-connections.ts'

/** An unconnected socket that seems to come from a port. */
const socketOf = (port: number): Socket =>
  Object.defineProperty(new Socket(), 'remotePort', { value: port })

const sockets = (count: number, firstPort: number): Socket[] =>
  Array.from({ length: count }, (_, index) => socketOf(firstPort + index))

test('an address with too many idle connections loses its oldest, never one that sent a message', () => {
  const inbound = createInboundConnections()
  const all = sockets(16, 1000)
  for (const socket of all) inbound.add(socket, '192.0.2.1')
  inbound.heard('192.0.2.1', 1000)
  const more = sockets(2, 2000)
  for (const socket of more) inbound.add(socket, '192.0.2.1')
  const closed = [...all, ...more].filter(({ destroyed }) => destroyed)
  assert.deepEqual(closed, [all[1]])
  assert.equal(inbound.size, 17)
})

test('a crowd of idle addresses closes its own oldest, and no proven connection', () => {
  const inbound = createInboundConnections()
  const trunk = socketOf(5061)
  inbound.add(trunk, '192.0.2.1')
  inbound.heard('192.0.2.1', 5061)
  for (let each = 0; each < 2000; each += 1) inbound.add(socketOf(each), `198.51.${each % 200}.1`)
  assert.equal(trunk.destroyed, false)
  assert.equal(inbound.size, 257)
})

test('a connection without a whole message within 10 s is closed', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const inbound = createInboundConnections()
  const [silent, talking] = [socketOf(1), socketOf(2)]
  inbound.add(silent, '192.0.2.1')
  inbound.add(talking, '192.0.2.1')
  inbound.heard('192.0.2.1', 2)
  t.mock.timers.tick(10_000)
  assert.deepEqual([silent.destroyed, talking.destroyed], [true, false])
})
