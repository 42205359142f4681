import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { test } from 'node:test'
import { createManualTime } from '../../tests/support/manual-time.ts'
import { silentLogger } from '../runtime/logger.ts'
import { parseNetworks } from '../runtime/networks.ts'
import type { Destination } from '../sip/message/destination.ts'
import { TrunkSources } from './trunk-sources.ts'
import { parseTrunkUri } from './trunk-uri.ts'

const at = (address: string, port = 5060): Destination => ({ protocol: 'udp', address, port })

const open = (allow = new BlockList()) => {
  const time = createManualTime()
  const names = new Map<string, readonly string[]>()
  let lookups = 0
  const sources = new TrunkSources({
    findAddresses: async ({ host, port = 5060 }) => {
      lookups += 1
      const found = names.get(host)
      if (found === undefined) throw new Error('ENOTFOUND')
      return { destinations: found.map((address) => at(address, port)), ttlSeconds: 20 }
    },
    allow,
    logger: silentLogger,
    time,
  })
  const pass = async (ms: number): Promise<void> => {
    time.advance(ms)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { sources, names, pass, lookups: () => lookups, time }
}

const carrier = parseTrunkUri('sip:carrier.example.com')

test('a trunk’s addresses are looked up again before they expire', async () => {
  const { sources, names, pass, lookups } = open()
  names.set('carrier.example.com', ['192.0.2.1', '192.0.2.2'])
  await sources.setTrunks([carrier])
  assert.ok(sources.admits(at('192.0.2.2', 40_000)))
  assert.ok(!sources.admits(at('192.0.2.3')))
  names.set('carrier.example.com', ['192.0.2.3'])
  await pass(16_000)
  assert.equal(lookups(), 2)
  assert.ok(sources.admits(at('192.0.2.3')))
  // A live call may still send from the address at which it began.
  assert.ok(sources.admits(at('192.0.2.1')))
  for (let minute = 0; minute < 60; minute += 1) await pass(61_000)
  assert.ok(!sources.admits(at('192.0.2.1')))
})

test('addresses stay while DNS fails, and are updated when it is back', async () => {
  const { sources, names, pass } = open()
  names.set('carrier.example.com', ['192.0.2.1'])
  await sources.setTrunks([carrier])
  names.clear()
  for (let hour = 0; hour < 5; hour += 1) await pass(3_600_000)
  assert.ok(sources.admits(at('192.0.2.1')))
  names.set('carrier.example.com', ['192.0.2.9'])
  await pass(61_000)
  assert.ok(sources.admits(at('192.0.2.9')))
})

test('trunks may change while calls go on', async () => {
  const { sources, names, time } = open(parseNetworks('198.51.100.0/24'))
  names.set('carrier.example.com', ['192.0.2.1'])
  names.set('other.example.com', ['192.0.2.5', '192.0.2.6'])
  const other = parseTrunkUri('sip:other.example.com:5070')
  await sources.setTrunks([carrier, other])
  assert.ok(sources.admits(at('192.0.2.1')) && sources.admits(at('192.0.2.5')))
  assert.ok(sources.areOneTrunk(at('192.0.2.5'), at('192.0.2.6')))
  assert.ok(!sources.areOneTrunk(at('192.0.2.5'), at('192.0.2.1')))
  assert.ok(sources.belongsTo(other, at('192.0.2.6', 5070)))
  assert.ok(!sources.belongsTo(other, at('192.0.2.6', 5060)))
  assert.ok(!sources.belongsTo(carrier, at('192.0.2.6', 5070)))
  await sources.setTrunks([other])
  assert.ok(!sources.admits(at('192.0.2.1')))
  assert.ok(sources.admits(at('198.51.100.77')))
  assert.deepEqual(sources.addressesOf(other), ['192.0.2.5', '192.0.2.6'])
  await sources.stop()
  assert.equal(time.pending(), 0)
  assert.ok(!sources.admits(at('192.0.2.5')))
})
