import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { createKeepAlive, defaultKeepAlive } from './keep-alive.ts'

const openRig = (t: TestContext, answersRequests = false) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const events: string[] = []
  const keepAlive = createKeepAlive(
    {
      ping: () => events.push('ping'),
      ask: async () => {
        events.push('ask')
        if (answersRequests) keepAlive.heard(false)
      },
      onDead: () => events.push('dead'),
    },
    defaultKeepAlive,
  )
  const pass = async (ms: number): Promise<void> => {
    t.mock.timers.tick(ms)
    await setImmediate()
  }
  return { events, keepAlive, pass }
}

test('a peer that sent a pong before is dead 10 s after a ping without one', async (t) => {
  const { events, keepAlive, pass } = openRig(t)
  await pass(20_000)
  keepAlive.heard(true)
  for (let times = 0; times < 2; times += 1) await pass(10_000)
  assert.deepEqual(events, ['ping', 'ping'])
  await pass(10_000)
  assert.deepEqual(events, ['ping', 'ping', 'dead'])
})

test('a peer that never sent one is asked by a request first', async (t) => {
  const { events, pass } = openRig(t)
  await pass(20_000)
  await pass(10_000)
  assert.deepEqual(events, ['ping', 'ask', 'dead'])
})

test('a peer that responds to requests only stays', async (t) => {
  const { events, pass } = openRig(t, true)
  await pass(20_000)
  for (let times = 0; times < 3; times += 1) await pass(10_000)
  assert.deepEqual(events, ['ping', 'ask', 'ping', 'ask'])
})

test('a stopped one does nothing more', async (t) => {
  const { events, keepAlive, pass } = openRig(t)
  keepAlive.stop()
  await pass(60_000)
  assert.deepEqual(events, [])
})
