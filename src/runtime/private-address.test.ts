import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPublicAddress } from './private-address.ts'

test('public hosts are public', () => {
  for (const address of ['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1'])
    assert.equal(isPublicAddress(address), true, address)
})

test('no private, wrapped or special address passes', () => {
  for (const address of [
    '127.0.0.1',
    '127.8.9.1',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    '::127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::7f00:1',
    '::ffff:0:127.0.0.1',
    '::ffff:0:10.0.0.1',
    '::ffff:0:8.8.8.8',
    '::8.8.8.8',
    '64:ff9b::10.0.0.1',
    '64:ff9b:1::10.0.0.1',
    '64:ff9b:1:a::7f00:1',
    '2002:a00:1::1',
    '2001:0:a00:1::5efe',
    '2001:0:4136:e378:8000:63bf:f5ff:fffe',
    '2606:4700::5efe:10.0.0.1',
    '2606:4700:1:2:0:5efe:a00:1',
    '2606:4700:1:2:200:5efe:a00:1',
    '2606:4700::1111%eth0',
    '3fff::1',
    '5f00::1',
    '4000::1',
    '100::1',
    'fec0::1',
    'ff02::1',
    'fd00::1',
    'fe80::1',
    '2002:7f00:1::',
    'localhost',
    '',
  ])
    assert.equal(isPublicAddress(address), false, address)
})
