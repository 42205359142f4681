import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InviteClientTransaction } from './invite-client-transaction.ts'
import { InviteServerTransaction } from './invite-server-transaction.ts'
import {
  emptyBody,
  headerOf,
  type SipMessage,
  type SipRequest,
  type SipResponse,
} from '../message/message.ts'
import { NonInviteClientTransaction } from './non-invite-client-transaction.ts'
import { NonInviteServerTransaction } from './non-invite-server-transaction.ts'
import { createResponse } from '../message/responses.ts'
import { createManualTime } from '../../../tests/support/manual-time.ts'
import { defaultTiming } from './transaction-timing.ts'

const requestOf = (method: string): SipRequest => ({
  kind: 'request',
  method,
  uri: 'sip:callee@example.com',
  headers: [
    ['via', 'SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bKa'],
    ['route', '<sip:proxy.example.com;lr>'],
    ['from', '<sip:caller@example.com>;tag=1'],
    ['to', '<sip:callee@example.com>'],
    ['call-id', 'c'],
    ['cseq', `7 ${method}`],
  ],
  body: emptyBody,
})

const summary = (message: SipMessage): string =>
  message.kind === 'request' ? message.method : String(message.status)

/** A client transaction whose network and time the test controls. */
const client = (method: string, isReliable = false) => {
  const time = createManualTime()
  const sent: SipMessage[] = []
  const told: string[] = []
  const Transaction = method === 'INVITE' ? InviteClientTransaction : NonInviteClientTransaction
  let fails = false
  const transaction = new Transaction({
    request: requestOf(method),
    send: async (message) => {
      sent.push(message)
      if (fails) throw new Error('unreachable')
    },
    isReliable,
    renew: async () => true,
    timing: defaultTiming,
    time,
    listener: {
      onResponse: (response) => told.push(String(response.status)),
      onTimeout: () => told.push('timeout'),
      onTransportError: () => told.push('transport error'),
      onTerminated: () => told.push('terminated'),
    },
  })
  const answer = (status: number): void => {
    transaction.receive(createResponse(transaction.request, status, { toTag: 't' }))
  }
  const failNow = (): void => {
    fails = true
  }
  return { transaction, time, sent, told, answer, failNow, writes: () => sent.map(summary) }
}

/** A server transaction, likewise. */
const server = (method: string, isReliable = false) => {
  const time = createManualTime()
  const sent: SipResponse[] = []
  const Transaction = method === 'INVITE' ? InviteServerTransaction : NonInviteServerTransaction
  const transaction = new Transaction({
    request: requestOf(method),
    send: async (response) => void sent.push(response),
    isReliable,
    timing: defaultTiming,
    time,
    onTerminated: () => {},
  })
  const respond = (status: number): void => {
    transaction.respond(createResponse(transaction.request, status, { toTag: 't' }))
  }
  return { transaction, time, sent, respond, writes: () => sent.map(summary) }
}

test('timer A doubles from T1 and timer B ends an unanswered INVITE after 64 T1', () => {
  const { transaction, time, told, writes } = client('INVITE')
  transaction.start()
  const counts = [500, 1000, 2000, 4000, 8000, 16_000].map((ms) => {
    time.advance(ms)
    return writes().length
  })
  assert.deepEqual(counts, [2, 3, 4, 5, 6, 7])
  time.advance(499)
  assert.deepEqual(told, [])
  time.advance(1)
  assert.deepEqual(told, ['terminated', 'timeout'])
  assert.equal(time.pending(), 0)
})

test('a reliable transport repeats nothing', () => {
  for (const method of ['INVITE', 'OPTIONS']) {
    const { transaction, time, told, writes } = client(method, true)
    transaction.start()
    time.advance(32_000)
    assert.deepEqual(writes(), [method])
    assert.deepEqual(told, ['terminated', 'timeout'])
  }
})

test('a provisional response ends the repetition of an INVITE, and nothing limits the ringing', () => {
  const { transaction, time, told, writes, answer } = client('INVITE')
  transaction.start()
  answer(180)
  time.advance(600_000)
  assert.deepEqual(writes(), ['INVITE'])
  assert.deepEqual(told, ['180'])
  assert.equal(transaction.state, 'proceeding')
})

test('a refusal is acknowledged inside the transaction, again for each repetition, until timer D', () => {
  const { transaction, time, sent, told, writes, answer } = client('INVITE')
  transaction.start()
  answer(486)
  answer(486)
  assert.deepEqual(writes(), ['INVITE', 'ACK', 'ACK'])
  const [invite, ack] = sent
  assert.ok(invite !== undefined && ack !== undefined)
  for (const name of ['via', 'route', 'from', 'call-id'])
    assert.equal(headerOf(ack, name), headerOf(invite, name))
  assert.equal(headerOf(ack, 'to'), '<sip:callee@example.com>;tag=t')
  assert.equal(headerOf(ack, 'cseq'), '7 ACK')
  assert.deepEqual(told, ['486'])
  time.advance(31_999)
  assert.equal(transaction.state, 'completed')
  time.advance(1)
  assert.equal(transaction.state, 'terminated')
})

test('every 2xx is reported until timer M, and is not acknowledged by the transaction (RFC 6026)', () => {
  const { transaction, time, told, writes, answer } = client('INVITE')
  transaction.start()
  answer(200)
  answer(200)
  answer(486)
  assert.deepEqual(told, ['200', '200'])
  assert.deepEqual(writes(), ['INVITE'])
  time.advance(32_000)
  assert.equal(transaction.state, 'terminated')
})

test('after stopRetransmitting no copy is sent, but a late response is still processed', () => {
  const { transaction, time, told, writes, answer } = client('INVITE')
  transaction.start()
  assert.ok(transaction instanceof InviteClientTransaction)
  transaction.stopRetransmitting()
  time.advance(10_000)
  assert.deepEqual(writes(), ['INVITE'])
  answer(180)
  assert.deepEqual(told, ['180'])
})

test('a transport that refuses ends a client transaction', async () => {
  for (const method of ['INVITE', 'BYE']) {
    const { transaction, time, told, failNow } = client(method)
    failNow()
    transaction.start()
    await Promise.resolve()
    await Promise.resolve()
    assert.deepEqual(told, ['terminated', 'transport error'])
    assert.equal(time.pending(), 0)
  }
})

test('a repeated INVITE that is refused leaves the first copy T1 for a response, and is not repeated again', async () => {
  for (const isAnswered of [true, false]) {
    const { transaction, time, told, writes, failNow, answer } = client('INVITE')
    transaction.start()
    await Promise.resolve()
    failNow()
    time.advance(500)
    await Promise.resolve()
    await Promise.resolve()
    assert.deepEqual(told, [])
    if (isAnswered) answer(486)
    else time.advance(500)
    assert.deepEqual(told, isAnswered ? ['486'] : ['terminated', 'transport error'])
    assert.deepEqual(writes(), isAnswered ? ['INVITE', 'INVITE', 'ACK'] : ['INVITE', 'INVITE'])
  }
})

test('timer E doubles up to T2, is T2 after a provisional, and timer F ends it', () => {
  const { transaction, time, told, writes, answer } = client('BYE')
  transaction.start()
  const counts = [500, 1000, 2000, 4000, 4000].map((ms) => {
    time.advance(ms)
    return writes().length
  })
  assert.deepEqual(counts, [2, 3, 4, 5, 6])
  answer(100)
  time.advance(4000)
  assert.equal(writes().length, 7)
  time.advance(16_500)
  assert.deepEqual(told, ['100', 'terminated', 'timeout'])
})

test('timer K buffers repeated finals of a non-INVITE transaction', () => {
  const { transaction, time, told, answer } = client('BYE')
  transaction.start()
  answer(200)
  answer(200)
  assert.deepEqual(told, ['200'])
  time.advance(4999)
  assert.equal(transaction.state, 'completed')
  time.advance(1)
  assert.equal(transaction.state, 'terminated')
})

test('a repeated INVITE gets the last provisional response again', () => {
  const { transaction, respond, writes } = server('INVITE')
  respond(100)
  respond(180)
  transaction.receive(transaction.request)
  assert.deepEqual(writes(), ['100', '180', '180'])
})

test('timer G repeats a refusal up to T2 until the ACK, timer I absorbs further ACKs', () => {
  const { transaction, time, respond, writes } = server('INVITE')
  respond(486)
  time.advance(500)
  time.advance(1000)
  time.advance(2000)
  time.advance(4000)
  time.advance(4000)
  assert.equal(writes().length, 6)
  transaction.receive(requestOf('ACK'))
  time.advance(4999)
  assert.equal(writes().length, 6)
  time.advance(1)
  assert.equal((transaction as InviteServerTransaction).state, 'terminated')
})

test('timer H gives up a refusal that is never acknowledged', () => {
  const { transaction, time, respond } = server('INVITE', true)
  respond(486)
  time.advance(31_999)
  assert.equal((transaction as InviteServerTransaction).state, 'completed')
  time.advance(1)
  assert.equal((transaction as InviteServerTransaction).state, 'terminated')
})

test('an accepted INVITE absorbs its copies, and only the transaction user repeats the 2xx', () => {
  const { transaction, time, respond, writes } = server('INVITE')
  respond(200)
  transaction.receive(transaction.request)
  time.advance(5000)
  respond(200)
  respond(486)
  assert.deepEqual(writes(), ['200', '200'])
  time.advance(27_000)
  assert.equal((transaction as InviteServerTransaction).state, 'terminated')
})

test('a repeated request gets the final response again until timer J', () => {
  const { transaction, time, respond, writes } = server('OPTIONS')
  transaction.receive(transaction.request)
  respond(200)
  respond(500)
  transaction.receive(transaction.request)
  assert.deepEqual(writes(), ['200', '200'])
  time.advance(32_000)
  assert.equal((transaction as NonInviteServerTransaction).state, 'terminated')
})
