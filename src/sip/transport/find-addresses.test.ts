import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAddressFinder } from './find-addresses.ts'
import type { NameService } from './name-service.ts'
import { parseSipUri } from '../message/uri.ts'

const find = (text: string, service: Partial<NameService>) => {
  const uri = parseSipUri(text)
  assert.ok(uri)
  const unknown = async (): Promise<never> => {
    throw new Error('ENOTFOUND')
  }
  return createAddressFinder(4, {
    findPointers: unknown,
    findServers: unknown,
    findRecords: unknown,
    findHosts: unknown,
    ...service,
  })(uri)
}

test('every server of the SRV records counts with every address, and the host itself', async () => {
  const addresses: Readonly<Record<string, readonly string[]>> = {
    'a.example.com': ['192.0.2.1', '192.0.2.2'],
    'b.example.com': ['192.0.2.3'],
    'example.com': ['192.0.2.4'],
  }
  const { destinations, ttlSeconds } = await find('sip:example.com', {
    findServers: async (name) => {
      if (name !== '_sip._udp.example.com') throw new Error('ENOTFOUND')
      return [
        { name: 'a.example.com', port: 5070, priority: 1, weight: 1 },
        { name: 'b.example.com', port: 5080, priority: 1, weight: 1 },
      ]
    },
    findRecords: async (host) =>
      (addresses[host] ?? []).map((address) => ({
        address,
        ttl: host === 'b.example.com' ? 30 : 300,
      })),
  })
  assert.deepEqual(
    destinations.map(({ address, port }) => `${address}:${port}`),
    ['192.0.2.1:5070', '192.0.2.2:5070', '192.0.2.3:5080', '192.0.2.4:5060'],
  )
  assert.equal(ttlSeconds, 30)
})

test('a name that only the system knows has addresses without a time to live', async () => {
  const { destinations, ttlSeconds } = await find('sip:pbx:5070;transport=tcp', {
    findHosts: async () => ['192.0.2.9'],
  })
  assert.deepEqual(destinations, [{ protocol: 'tcp', address: '192.0.2.9', port: 5070 }])
  assert.equal(ttlSeconds, undefined)
})

test('a name without an address is an error, an address stands for itself', async () => {
  await assert.rejects(find('sip:nowhere.example.com', {}), /has no address/)
  const { destinations } = await find('sip:192.0.2.5', {})
  assert.deepEqual(destinations, [{ protocol: 'udp', address: '192.0.2.5', port: 5060 }])
})
