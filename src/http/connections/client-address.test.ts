import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseNetworks } from '../../runtime/networks.ts'
import { clientAddress, networkOf, trustNetworks } from './client-address.ts'

const isTrusted = trustNetworks(parseNetworks('10.0.0.0/8,192.0.2.7,2001:db8::/32'))

test('a list of networks knows its addresses, as a socket of both families tells them too', () => {
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '192.0.2.7', '2001:db8::1'])
    assert.ok(isTrusted(address), address)
  for (const address of ['11.0.0.1', '192.0.2.8', '::ffff:11.0.0.1', '2001:db9::1', 'x', ''])
    assert.ok(!isTrusted(address), address)
  assert.ok(!trustNetworks(undefined)('127.0.0.1'))
})

const forwarded = (...values: string[]) => ({
  rawHeaders: values.flatMap((value) => ['X-Forwarded-For', value]),
})

test('what a client says of its address counts for nothing, a trusted proxy is believed up to the next stranger', () => {
  const from = (peer: string, ...values: string[]) =>
    clientAddress(forwarded(...values), peer, isTrusted)
  assert.equal(from('11.0.0.1', '1.2.3.4'), '11.0.0.1')
  assert.equal(from('10.0.0.1'), '10.0.0.1')
  assert.equal(from('10.0.0.1', '1.2.3.4'), '1.2.3.4')
  assert.equal(from('::ffff:10.0.0.1', '6.6.6.6, 1.2.3.4, 10.9.9.9'), '1.2.3.4')
  assert.equal(from('10.0.0.1', '6.6.6.6', '1.2.3.4'), '1.2.3.4')
  assert.equal(from('10.0.0.1', '6.6.6.6, rubbish'), '10.0.0.1')
  assert.equal(from('10.0.0.1', '10.0.0.2'), '10.0.0.2')
  assert.equal(from('10.0.0.1', '[2606:4700::1]'), '2606:4700::1')
})

test('a network of IPv6 that one person holds counts as one address', () => {
  assert.equal(networkOf('2606:4700:1:2:3::1'), networkOf('2606:4700:1:2::9'))
  assert.notEqual(networkOf('2606:4700:1:2::1'), networkOf('2606:4700:1:3::1'))
  assert.equal(networkOf('::ffff:1.2.3.4'), '1.2.3.4')
})
