import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseServer, createResolver, type NameService } from './resolver.ts'
import { parseSipUri } from '../message/uri.ts'

const names = (servers: Readonly<Record<string, string>> = {}): NameService => ({
  findServers: async (name) => {
    const target = servers[name]
    if (target === undefined) throw new Error('ENOTFOUND')
    return [{ name: target, port: 5080, priority: 1, weight: 1 }]
  },
  findAddress: async (host) => {
    if (host === 'nowhere.example.com') throw new Error('ENOTFOUND')
    return host === 'edge.example.com' ? '192.0.2.2' : '192.0.2.1'
  },
})

const resolve = (uri: string, service = names()) => {
  const parsed = parseSipUri(uri)
  assert.ok(parsed)
  return createResolver(4, service).resolve(parsed)
}

test('an address is used as written, with the port of its transport', async () => {
  assert.deepEqual(await resolve('sip:192.0.2.9'), {
    protocol: 'udp',
    address: '192.0.2.9',
    port: 5060,
  })
  assert.equal((await resolve('sip:192.0.2.9;transport=tls')).port, 5061)
  assert.equal((await resolve('sips:192.0.2.9')).protocol, 'tls')
})

test('SRV decides if no port is written, and the certificate keeps the written name', async () => {
  const service = names({ '_sips._tcp.example.com': 'edge.example.com' })
  assert.deepEqual(await resolve('sip:example.com;transport=tls', service), {
    protocol: 'tls',
    address: '192.0.2.2',
    port: 5080,
    serverName: 'example.com',
  })
  assert.equal((await resolve('sip:example.com:5070;transport=tls', service)).port, 5070)
})

test('without SRV records the host itself is looked up', async () => {
  const found = await resolve('sip:example.com')
  assert.deepEqual([found.address, found.port], ['192.0.2.1', 5060])
})

test('a name without an address, or an address of the other IP version, is an error', async () => {
  await assert.rejects(resolve('sip:nowhere.example.com'))
  await assert.rejects(resolve('sip:[2001:db8::1]'))
})

test('SRV: the lowest priority first, then by weight', () => {
  const record = (name: string, priority: number, weight: number) => ({
    name,
    priority,
    weight,
    port: 5060,
  })
  const records = [record('backup', 20, 100), record('a', 10, 1), record('b', 10, 3)]
  assert.equal(chooseServer(records, 0.1)?.name, 'a')
  assert.equal(chooseServer(records, 0.5)?.name, 'b')
  assert.equal(chooseServer([record('only', 1, 0)], 0.9)?.name, 'only')
  assert.equal(chooseServer([], 0.5), undefined)
})
