import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { createInboundConnections } from './inbound-connections.ts'

test('an address with too many connections loses the one that was silent for longest', () => {
  const inbound = createInboundConnections()
  const sockets = Array.from({ length: 32 }, () => new Socket())
  for (const socket of sockets) inbound.add(socket, '192.0.2.1')
  const [first, second] = sockets
  assert.ok(first && second)
  inbound.heard(first)
  const elsewhere = new Socket()
  inbound.add(elsewhere, '192.0.2.2')
  assert.ok([...sockets, elsewhere].every(({ destroyed }) => !destroyed))
  const next = new Socket()
  inbound.add(next, '192.0.2.1')
  assert.deepEqual(
    sockets.filter(({ destroyed }) => destroyed),
    [second],
  )
  assert.equal(inbound.size, 33)
})

test('a connection without a whole message within 10 s is closed', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const inbound = createInboundConnections()
  const [silent, talking] = [new Socket(), new Socket()]
  inbound.add(silent, '192.0.2.1')
  inbound.add(talking, '192.0.2.1')
  inbound.heard(talking)
  t.mock.timers.tick(10_000)
  assert.deepEqual([silent.destroyed, talking.destroyed], [true, false])
})
