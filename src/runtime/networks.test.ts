import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalAddress } from './ip-address.ts'
import { parseNetworks } from './networks.ts'

test('addresses and networks of both versions are read', () => {
  const networks = parseNetworks('192.0.2.7, 198.51.100.0/24,2001:db8::/32')
  assert.ok(networks.check('192.0.2.7', 'ipv4'))
  assert.ok(!networks.check('192.0.2.8', 'ipv4'))
  assert.ok(networks.check('198.51.100.255', 'ipv4'))
  assert.ok(networks.check('2001:db8:1::1', 'ipv6'))
  assert.ok(!networks.check('2001:db9::1', 'ipv6'))
})

for (const wrong of [
  '',
  'carrier.example.com',
  '192.0.2.0/33',
  '192.0.2.0/',
  '1.2.3',
  '10.0.0.0/8/8',
  '192.0.2.1,',
  '2001:db8::/129',
  '0.0.0.0/0',
  '::/0',
  'fe80::1%eth0',
]) {
  test(`"${wrong}" is refused`, () => {
    assert.throws(() => parseNetworks(wrong), /^Error: holds "/)
  })
}

test('one address has one spelling', () => {
  assert.equal(canonicalAddress('2001:DB8:0:0::0001'), '2001:db8::1')
  assert.equal(canonicalAddress('::FFFF:192.0.2.1'), '192.0.2.1')
  assert.equal(canonicalAddress('fe80::1%eth0'), 'fe80::1')
  assert.equal(canonicalAddress('192.0.2.1'), '192.0.2.1')
  assert.equal(canonicalAddress('carrier.example.com'), 'carrier.example.com')
})
