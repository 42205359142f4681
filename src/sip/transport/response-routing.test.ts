import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyBody, headersOf, type SipRequest } from '../message/message.ts'
import { createResponseSender, stampTopVia } from './response-routing.ts'
import type { Source, Transport } from './transport.ts'
import type { Destination } from '../message/destination.ts'

const requestVia = (via: string): SipRequest => ({
  kind: 'request',
  method: 'OPTIONS',
  uri: 'sip:a@b',
  headers: [
    ['via', via],
    ['via', 'SIP/2.0/UDP behind;branch=z9hG4bKb'],
  ],
  body: emptyBody,
})

const written: string[] = []

const source = (protocol: 'udp' | 'tcp', isBroken = false): Source => ({
  protocol,
  address: '198.51.100.7',
  port: 40_123,
  reply: async () => {
    if (isBroken) throw new Error('the connection is gone')
    written.push('reply')
  },
})

const transport: Transport = {
  protocol: 'udp',
  localPort: 5060,
  start: async () => {},
  stop: async () => {},
  prepare: async () => ({ address: '192.0.2.1', port: 5060 }),
  send: async (_bytes: Buffer, { address, port }: Destination) => {
    written.push(`${address}:${port}`)
  },
}

const route = async (via: string, from: Source): Promise<readonly string[]> => {
  written.length = 0
  await createResponseSender(requestVia(via), from, transport)(Buffer.alloc(1))
  return [...written]
}

test('the port and address of a sender that asks for rport are recorded (RFC 3581)', () => {
  const stamped = stampTopVia(
    requestVia('SIP/2.0/UDP 10.0.0.1:5060;rport;branch=z9hG4bKa'),
    source('udp'),
  )
  assert.deepEqual(headersOf(stamped, 'via'), [
    'SIP/2.0/UDP 10.0.0.1:5060;branch=z9hG4bKa;rport=40123;received=198.51.100.7',
    'SIP/2.0/UDP behind;branch=z9hG4bKb',
  ])
})

test('parameters similar to received stay, and every received and rport is removed', () => {
  const stamped = stampTopVia(
    requestVia(
      'SIP/2.0/UDP a ; Received = 1.2.3.4 ;rport=7;RPORT ; branch=b;x=";rport=1";receivedx=2',
    ),
    source('udp'),
  )
  const kept = 'SIP/2.0/UDP a ; branch=b;x=";rport=1";receivedx=2'
  assert.equal(headersOf(stamped, 'via')[0], `${kept};rport=40123;received=198.51.100.7`)
})

test('a forged received parameter is replaced', () => {
  const stamped = stampTopVia(
    requestVia('SIP/2.0/UDP 10.0.0.1;received=203.0.113.1;branch=z9hG4bKa'),
    source('udp'),
  )
  assert.equal(
    headersOf(stamped, 'via')[0],
    'SIP/2.0/UDP 10.0.0.1;branch=z9hG4bKa;received=198.51.100.7',
  )
})

test('a truthful Via stays unchanged', () => {
  const via = 'SIP/2.0/UDP 198.51.100.7:5062;branch=z9hG4bKa'
  assert.equal(headersOf(stampTopVia(requestVia(via), source('udp')), 'via')[0], via)
})

test('responses go to the source port with rport, else to the sent-by port', async () => {
  const via = 'SIP/2.0/UDP 10.0.0.1:5062;branch=z9hG4bKa'
  assert.deepEqual(await route(`${via};rport`, source('udp')), ['reply'])
  assert.deepEqual(await route(via, source('udp')), ['198.51.100.7:5062'])
  const portless = 'SIP/2.0/UDP 10.0.0.1;branch=z9hG4bKa'
  assert.deepEqual(await route(portless, source('udp')), ['198.51.100.7:5060'])
})

test('on a stream the response uses the connection of the request, or a new one if that is gone', async () => {
  const via = 'SIP/2.0/TCP 10.0.0.1:5062;branch=z9hG4bKa'
  assert.deepEqual(await route(via, source('tcp')), ['reply'])
  assert.deepEqual(await route(via, source('tcp', true)), ['198.51.100.7:5062'])
})
