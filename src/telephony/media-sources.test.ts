import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withMediaSources } from './media-sources.ts'

const others = (address: string, media: 'declared' | 'symmetric' = 'declared') =>
  withMediaSources(
    { remote: { address, port: 4000 }, codec: 'pcmu', payloadType: 0, direction: 'sendrecv' },
    { media, signalling: ['198.51.99.7'] },
  ).otherSources

test('a public address in the SDP, and one of this machine, is the only source', () => {
  assert.equal(others('8.8.8.8'), undefined)
  assert.equal(others('2606:4700::1111'), undefined)
  assert.equal(others('127.0.0.1'), undefined)
})

test('behind a NAT media come from the trunk’s signalling addresses', () => {
  for (const address of ['10.0.0.9', '192.168.1.5', '100.64.0.1', 'fd00::1', 'media.example.com'])
    assert.deepEqual(others(address), ['198.51.99.7'])
})

test('a symmetric trunk is configured explicitly', () => {
  assert.equal(others('8.8.8.8', 'symmetric'), 'any')
})
