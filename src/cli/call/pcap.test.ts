import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pcapOf } from './pcap.ts'

const at = '2026-07-16T12:00:00.250Z'

const captureOf = (local: string, remote: string, text: string): Buffer =>
  pcapOf([
    {
      attempt: 1,
      first: [{ at, direction: 'sent', protocol: 'udp', local, remote, text }],
      last: [],
      omitted: 0,
    },
  ])

test('a message is an IPv4 datagram between its addresses, at its time', () => {
  const capture = captureOf('192.0.2.1:5060', '198.51.100.7:5070', 'OPTIONS')
  assert.equal(capture.readUInt32LE(0), 0xa1b2c3d4)
  assert.equal(capture.readUInt32LE(20), 101)
  const packet = capture.subarray(24)
  assert.equal(packet.readUInt32LE(0), Date.parse(at) / 1000 - 0.25)
  assert.equal(packet.readUInt32LE(4), 250_000)
  const datagram = packet.subarray(16)
  assert.equal(packet.readUInt32LE(8), datagram.length)
  assert.equal(datagram.readUInt16BE(2), datagram.length)
  assert.deepEqual([...datagram.subarray(12, 20)], [192, 0, 2, 1, 198, 51, 100, 7])
  assert.deepEqual([datagram.readUInt16BE(20), datagram.readUInt16BE(22)], [5060, 5070])
  assert.equal(datagram.readUInt16BE(24), 8 + 'OPTIONS'.length)
  assert.equal(datagram.subarray(28).toString(), 'OPTIONS')
})

test('IPv6 has its own header, and a name is no address', () => {
  const six = captureOf('[2001:db8::1]:5060', '[::1]:5061', 'BYE').subarray(40)
  assert.equal(six[0], 0x60)
  assert.equal(six.readUInt16BE(4), 8 + 3)
  assert.deepEqual([...six.subarray(8, 12)], [0x20, 0x01, 0x0d, 0xb8])
  assert.equal(six[39], 1)
  const named = captureOf('sip.example:5060', '192.0.2.1:5060', 'BYE').subarray(40)
  assert.deepEqual([...named.subarray(12, 16)], [0, 0, 0, 0])
})
