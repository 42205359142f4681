import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NaptrRecord, SrvRecord } from 'node:dns'
import { createManualTime } from '../../../tests/support/manual-time.ts'
import { parseSipUri } from '../message/uri.ts'
import type { NameService } from './name-service.ts'
import { createResolver } from './resolver.ts'

interface Zone {
  readonly pointers?: Readonly<Record<string, readonly NaptrRecord[]>>
  readonly servers?: Readonly<Record<string, readonly SrvRecord[]>>
  readonly addresses?: Readonly<Record<string, readonly string[]>>
  readonly ttl?: number
}

const namesOf = (zone: () => Zone): NameService & { asked: number } => {
  const found = <T>(records: Readonly<Record<string, readonly T[]>> | undefined, name: string) => {
    const known = records?.[name]
    if (known === undefined) throw new Error('ENOTFOUND')
    return known
  }
  const service = {
    asked: 0,
    findPointers: async (host: string) => found(zone().pointers, host),
    findServers: async (name: string) => found(zone().servers, name),
    findRecords: async (host: string, family: 4 | 6) => {
      service.asked += 1
      const { addresses, ttl = 300 } = zone()
      return found(addresses, host)
        .filter((address) => address.includes(':') === (family === 6))
        .map((address) => ({ address, ttl }))
    },
    findHosts: async () => [],
  }
  return service
}

const locate = async (text: string, zone: Zone = {}, random: () => number = () => 0) => {
  const uri = parseSipUri(text)
  assert.ok(uri)
  const found = await createResolver(4, { names: namesOf(() => zone), random }).locate(uri)
  return found.map(({ protocol, address, port }) => `${protocol} ${address} ${port}`)
}

const srv = (name: string, priority = 10, weight = 1, port = 5070): SrvRecord => ({
  name,
  priority,
  weight,
  port,
})

const naptr = (service: string, order: number, replacement: string): NaptrRecord => ({
  flags: 's',
  service,
  regexp: '',
  replacement,
  order,
  preference: 1,
})

test('an address is used as written, with the port of its transport', async () => {
  assert.deepEqual(await locate('sip:192.0.2.9'), ['udp 192.0.2.9 5060'])
  assert.deepEqual(await locate('sip:192.0.2.9;transport=tls'), ['tls 192.0.2.9 5061'])
  assert.deepEqual(await locate('sips:192.0.2.9'), ['tls 192.0.2.9 5061'])
})

test('NAPTR decides the transport where the URI leaves it open', async () => {
  const zone: Zone = {
    pointers: {
      'example.com': [
        naptr('SIP+D2U', 20, '_sip._udp.example.com'),
        naptr('SIPS+D2T', 10, '_sips._tcp.example.com'),
        naptr('SIP+D2S', 1, '_sip._sctp.example.com'),
      ],
    },
    servers: {
      '_sips._tcp.example.com': [srv('a.example.com', 10, 1, 5061)],
      '_sip._udp.example.com': [srv('a.example.com')],
    },
    addresses: { 'a.example.com': ['192.0.2.1'] },
  }
  assert.deepEqual(await locate('sip:example.com', zone), [
    'tls 192.0.2.1 5061',
    'udp 192.0.2.1 5070',
  ])
  assert.deepEqual(await locate('sip:example.com;transport=udp', zone), ['udp 192.0.2.1 5070'])
})

test('without NAPTR the SRV records of every transport count, UDP first', async () => {
  const zone: Zone = {
    servers: { '_sip._tcp.example.com': [srv('a.example.com')] },
    addresses: { 'a.example.com': ['192.0.2.1'], 'example.com': ['192.0.2.9'] },
  }
  assert.deepEqual(await locate('sip:example.com', zone), ['tcp 192.0.2.1 5070'])
  assert.deepEqual(await locate('sip:example.com:5080', zone), ['udp 192.0.2.9 5080'])
})

test('every address of every server is tried, by priority, then by weight', async () => {
  const zone: Zone = {
    servers: {
      '_sip._udp.example.com': [
        srv('backup.example.com', 20, 100),
        srv('light.example.com', 10, 1),
        srv('heavy.example.com', 10, 3),
      ],
    },
    addresses: {
      'backup.example.com': ['192.0.2.3'],
      'light.example.com': ['192.0.2.1'],
      'heavy.example.com': ['192.0.2.2', '192.0.2.4', '2001:db8::1'],
    },
  }
  const addresses = async (random: number) =>
    (await locate('sip:example.com', zone, () => random)).map((text) => text.split(' ')[1])
  assert.deepEqual(await addresses(0.5), ['192.0.2.2', '192.0.2.4', '192.0.2.1', '192.0.2.3'])
  assert.deepEqual(await addresses(0.1), ['192.0.2.1', '192.0.2.2', '192.0.2.4', '192.0.2.3'])
})

test('a stream reaches addresses of both IP versions', async () => {
  const zone: Zone = { addresses: { 'example.com': ['2001:db8::1', '192.0.2.1'] } }
  const found = await locate('sip:example.com:5061;transport=tls', zone)
  assert.deepEqual(found, ['tls 192.0.2.1 5061', 'tls 2001:db8::1 5061'])
  assert.deepEqual(await locate('sip:example.com:5060', zone), ['udp 192.0.2.1 5060'])
})

test('a name without an address, or an address of the other IP version, is an error', async () => {
  await assert.rejects(locate('sip:nowhere.example.com'), /has no address/)
  await assert.rejects(locate('sip:[2001:db8::1]'))
})

test('addresses are asked for again after their time to live, and kept while DNS is silent', async () => {
  const time = createManualTime()
  let zone: Zone = { addresses: { 'example.com': ['192.0.2.1'] }, ttl: 10 }
  const names = namesOf(() => zone)
  const resolver = createResolver(4, { names, clock: time })
  const uri = parseSipUri('sip:example.com:5060')
  assert.ok(uri)
  const address = async () => (await resolver.locate(uri))[0]?.address
  await address()
  time.advance(9_000)
  await address()
  assert.equal(names.asked, 1)
  zone = { addresses: { 'example.com': ['192.0.2.2'] }, ttl: 10 }
  time.advance(2_000)
  assert.equal(await address(), '192.0.2.2')
  zone = {}
  time.advance(60_000)
  assert.equal(await address(), '192.0.2.2')
  time.advance(10 * 60_000)
  await assert.rejects(address())
})

test('a certificate is checked against the written name', async () => {
  const uri = parseSipUri('sip:example.com;transport=tls')
  assert.ok(uri)
  const zone: Zone = {
    servers: { '_sips._tcp.example.com': [srv('edge.example.net')] },
    addresses: { 'edge.example.net': ['192.0.2.2'] },
  }
  const [found] = await createResolver(4, { names: namesOf(() => zone) }).locate(uri)
  assert.equal(found?.serverName, 'example.com')
})
