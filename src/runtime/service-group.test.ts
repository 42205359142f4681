import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from './logger.ts'
import { createServiceGroup } from './service-group.ts'

const service = (name: string, told: string[], problem?: string) => ({
  start: async () => {
    told.push(`start ${name}`)
    if (problem !== undefined) throw new Error(problem)
  },
  stop: async () => {
    told.push(`stop ${name}`)
  },
})

test('services are stopped in the opposite order, also those that could not start', async () => {
  const told: string[] = []
  const group = createServiceGroup(silentLogger)
  group.add(service('store', told))
  await group.run(service('media', told), service('telephony', told))
  await assert.rejects(group.run(service('api', told, 'The port is taken.')), /port is taken/)
  await group.stop()
  assert.deepEqual(told, [
    'start media',
    'start telephony',
    'start api',
    'stop api',
    'stop telephony',
    'stop media',
    'stop store',
  ])
})

test('one service that cannot stop keeps no other from being stopped', async () => {
  const told: string[] = []
  const group = createServiceGroup(silentLogger)
  group.add(service('store', told))
  group.add({ stop: () => Promise.reject(new Error('It hangs.')) })
  await group.stop()
  assert.deepEqual(told, ['stop store'])
})
