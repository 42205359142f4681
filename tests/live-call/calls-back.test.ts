import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createSocket } from 'node:dgram'
import { test, type TestContext } from 'node:test'
import type { Database } from '../../src/database/database.ts'
import { setOrganization } from '../../src/domains/organizations/set-organization.ts'
import { ScriptedRealtimeServer } from '../../src/conversation/engines/scripted/scripted-realtime-server.ts'
import { createMessageSpeech } from '../../src/live-call/calls-back/message-speech.ts'
import { silentLogger, type Logger } from '../../src/runtime/logger.ts'
import { createMediaNegotiator } from '../../src/sdp/sdp.ts'
import {
  bodyText,
  headerOf,
  serializeMessage,
  type SipMessage,
} from '../../src/sip/message/message.ts'
import { clipOf, ourNumber, startCallsBackRig } from '../support/calls-back-rig.ts'
import { openRawSocket } from '../support/sip/raw-socket.ts'
import { cancelOf, copyOf, insideOf, rawInvite } from '../support/sip/raw-invite.ts'
import { openScriptedPeer, toTagOf, type ScriptedPeer } from '../support/sip/scripted-peer.ts'
import { audioSdp } from '../support/sip/test-agents.ts'

type Rig = Awaited<ReturnType<typeof startCallsBackRig>>
type RigOptions = Partial<Parameters<typeof startCallsBackRig>[1]>

/** A node, and its trunk as a peer that writes its messages itself. */
const start = async (
  t: TestContext,
  options: RigOptions = {},
): Promise<{ readonly rig: Rig; readonly trunk: ScriptedPeer }> => {
  const first = await openScriptedPeer()
  const rig = await startCallsBackRig(t, { trunkPort: first.port, ...options })
  await first.close()
  const trunk = await openScriptedPeer(rig.port)
  t.after(() => trunk.close())
  return { rig, trunk }
}

const statusOf = (message: SipMessage): number => (message.kind === 'response' ? message.status : 0)

const message = { kind: 'message', text: 'We will call you again.' } as const

test('a call back is declined with 603, once, and noted with the organization of the number', async (t) => {
  const lines: object[] = []
  const logger: Logger = { ...silentLogger, info: (fields) => lines.push(fields) }
  const { rig, trunk } = await start(t, { logger })
  const invite = rawInvite({ to: rig.target, port: trunk.port, body: audioSdp() })
  trunk.send(invite)
  const refusal = await trunk.next('603 INVITE')
  trunk.send(insideOf(invite, refusal, { method: 'ACK', sequence: 1 }))
  const [row] = await rig.noted(1)
  assert.equal(row?.result, 'declined')
  assert.equal(row.sip_status, 603)
  assert.equal(row.phone_number, '+12025550142')
  assert.equal(row.called_number, ourNumber)
  assert.equal(row.trunk, 'carrier')
  assert.equal(rig.counts.get('outdial_calls_back_total declined'), 1)
  const written = JSON.stringify(lines)
  assert.ok(written.includes('+1202***0142'), written)
  assert.ok(!written.includes('2025550142'), written)
})

test('the organization of the number decides, whatever the installation says', async (t) => {
  const { rig, trunk } = await start(t, { installation: message })
  const { organizationId } = rig.organization
  await rig.db.transaction((tx) =>
    setOrganization(tx, organizationId, { callsBack: 'decline:486' }),
  )
  trunk.send(rawInvite({ to: rig.target, port: trunk.port, body: audioSdp() }))
  await trunk.next('486 INVITE')
  await rig.db.transaction((tx) =>
    setOrganization(tx, organizationId, { callsBack: 'forward:+12025550123' }),
  )
  trunk.send(rawInvite({ to: rig.target, port: trunk.port, body: audioSdp() }))
  const redirection = await trunk.next('302 INVITE')
  assert.match(headerOf(redirection, 'contact') ?? '', /^<sip:\+12025550123@127\.0\.0\.1:\d+>$/)
  const rows = await rig.noted(2)
  assert.deepEqual(
    rows.map(({ result }) => result),
    ['forwarded', 'declined'],
  )
})

test('a number that is none of ours gets 404, and no organization sees it', async (t) => {
  const { rig, trunk } = await start(t)
  trunk.send(rawInvite({ to: `sip:+442079460000@127.0.0.1:${rig.port}`, port: trunk.port }))
  await trunk.next('404 INVITE')
  const [row] = await rig.notedUnowned(1)
  assert.equal(row?.result, 'unknown_number')
  assert.deepEqual(await rig.all(), [])
})

for (const [name, to, headers] of [
  ['the digits alone', 'sip:12025550199@trunk.test', []],
  ['the notation of its country', 'sip:(202)555-0199@trunk.test', []],
  ['a tel URI', 'tel:+1-202-555-0199', []],
  [
    'P-Called-Party-ID',
    'sip:account-7@trunk.test',
    [['p-called-party-id', `<sip:${ourNumber}@trunk.test>`]],
  ],
] as const)
  test(`our number is recognized in ${name}`, async (t) => {
    const { rig, trunk } = await start(t)
    trunk.send(rawInvite({ to, port: trunk.port, headers: [...headers] }))
    await trunk.next('603 INVITE')
    assert.equal((await rig.noted(1))[0]?.called_number, ourNumber)
  })

test('a withheld caller is not noted, although the trunk knows the number', async (t) => {
  const { rig, trunk } = await start(t)
  const asserted = '<sip:+12025550142@trunk.test>'
  const headers = [
    ['privacy', 'id'],
    ['p-asserted-identity', asserted],
  ] as const
  const from = '"Anonymous" <sip:anonymous@anonymous.invalid>'
  trunk.send(rawInvite({ to: rig.target, port: trunk.port, from, headers }))
  await trunk.next('603 INVITE')
  assert.equal((await rig.noted(1))[0]?.phone_number, null)
})

test('a forged source draws no byte, in the name of the trunk either', async (t) => {
  const { rig, trunk } = await start(t, { installation: message })
  const forger = await openRawSocket(t, '127.0.0.2')
  const forged = rawInvite({ to: rig.target, port: forger.port, body: audioSdp() })
  for (let copy = 0; copy < 3; copy += 1)
    await forger.send(serializeMessage(copyOf(forged)), rig.port)
  // A call of the trunk afterwards shows that the forged ones were read.
  const invite = rawInvite({ to: `sip:+442079460000@127.0.0.1:${rig.port}`, port: trunk.port })
  trunk.send(invite)
  await trunk.next('404 INVITE')
  assert.deepEqual(forger.heard, [])
  assert.deepEqual(await rig.all(), [])
})

test('a message is spoken over RTP, then BYE', async (t) => {
  const engine = new ScriptedRealtimeServer({ vocabulary: [], logger: silentLogger })
  await engine.start()
  t.after(() => engine.stop())
  const noServer = { url: undefined, key: undefined, model: undefined, voice: undefined }
  const speech = createMessageSpeech({ tts: noServer, sandboxUrl: () => engine.httpUrl })
  const { rig, trunk } = await start(t, { installation: message, speech })
  const ear = createSocket('udp4')
  const heard: Buffer[] = []
  ear.on('message', (packet) => heard.push(packet))
  ear.bind(0, '127.0.0.1')
  await once(ear, 'listening')
  t.after(() => ear.close())
  const local = { address: '127.0.0.1', port: ear.address().port }
  const offer = createMediaNegotiator({ local }).offer()
  const invite = rawInvite({ to: rig.target, port: trunk.port, body: offer })
  trunk.send(invite)
  await trunk.next('180 INVITE')
  const success = await trunk.next('200 INVITE')
  assert.match(bodyText(success), /^m=audio \d+ RTP\/AVP 0 101\r$/m)
  trunk.send(insideOf(invite, success, { method: 'ACK', sequence: 1 }))
  trunk.reply(await trunk.nextRequest('BYE'), 200)
  const [row] = await rig.noted(1)
  assert.equal(row?.result, 'message')
  assert.equal(row.sip_status, 200)
  assert.ok((row.seconds ?? 0) >= 1)
  const voiced = heard.filter((packet) => packet.subarray(12).some((byte) => (byte & 0x7f) < 0x60))
  // The sentence lasts for more than a second.
  assert.ok(voiced.length > 40, `${voiced.length} of ${heard.length} packets have speech`)
})

test('an INVITE without an offer gets ours, and the answer comes in the ACK', async (t) => {
  const { rig, trunk } = await start(t, { installation: message })
  const invite = rawInvite({ to: rig.target, port: trunk.port })
  trunk.send(invite)
  const success = await trunk.next('200 INVITE')
  const body = createMediaNegotiator({ local: { address: '127.0.0.1', port: 40_000 } }).answer(
    bodyText(success),
  )?.sdp
  trunk.send(insideOf(invite, success, { method: 'ACK', sequence: 1, ...(body && { body }) }))
  trunk.reply(await trunk.nextRequest('BYE'), 200)
  assert.equal((await rig.noted(1))[0]?.result, 'message')
})

test('an ACK without the answer that it owes ends the call', async (t) => {
  const { rig, trunk } = await start(t, { installation: message })
  const invite = rawInvite({ to: rig.target, port: trunk.port })
  trunk.send(invite)
  const success = await trunk.next('200 INVITE')
  trunk.send(insideOf(invite, success, { method: 'ACK', sequence: 1 }))
  trunk.reply(await trunk.nextRequest('BYE'), 200)
  assert.equal((await rig.noted(1))[0]?.result, 'failed')
})

test('a repeated INVITE gets the same 200, and one without an ACK a BYE after 64 × T1', async (t) => {
  const { rig, trunk } = await start(t, { installation: message })
  const invite = rawInvite({ to: rig.target, port: trunk.port, body: audioSdp() })
  trunk.send(invite)
  const success = await trunk.next('200 INVITE')
  trunk.send(invite)
  const again = await trunk.nextRepeated('200 INVITE')
  assert.equal(toTagOf(again), toTagOf(success))
  // No ACK, however often the 200 comes.
  trunk.reply(await trunk.nextRequest('BYE'), 200)
  const [row] = await rig.noted(1)
  assert.equal(row?.result, 'failed')
  assert.equal((await rig.all()).length, 1)
})

test('a copy of an INVITE on another path gets 482, also when the first has its answer', async (t) => {
  const { rig, trunk } = await start(t)
  const invite = rawInvite({ to: rig.target, port: trunk.port, body: audioSdp() })
  trunk.send(invite)
  const refusal = await trunk.next('603 INVITE')
  trunk.send(insideOf(invite, refusal, { method: 'ACK', sequence: 1 }))
  await rig.noted(1)
  trunk.send(copyOf(invite))
  await trunk.next('482 INVITE')
  assert.equal((await rig.all()).length, 1)
})

test('CANCEL before the answer gives 487', async (t) => {
  const speech = { clipOf: (_text: string, signal: AbortSignal) => aborted(signal) }
  const { rig, trunk } = await start(t, { installation: message, speech })
  const invite = rawInvite({ to: rig.target, port: trunk.port, body: audioSdp() })
  trunk.send(invite)
  await trunk.next('180 INVITE')
  trunk.send(cancelOf(invite))
  await trunk.next('200 CANCEL')
  const terminated = await trunk.next('487 INVITE')
  trunk.send(insideOf(invite, terminated, { method: 'ACK', sequence: 1 }))
  assert.equal((await rig.noted(1))[0]?.result, 'cancelled')
})

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')))
  })

test('hold, UPDATE, OPTIONS and BYE inside the message are served', async (t) => {
  const { rig, trunk } = await start(t, { installation: message, speech: clipOf(100_000) })
  const local = { address: '127.0.0.1', port: 40_000 }
  const theirs = createMediaNegotiator({ local })
  const invite = rawInvite({ to: rig.target, port: trunk.port, body: theirs.offer() })
  trunk.send(invite)
  const success = await trunk.next('200 INVITE')
  const inside = (method: string, sequence: number, body?: string) =>
    trunk.send(insideOf(invite, success, { method, sequence, ...(body && { body }) }))
  inside('ACK', 1)
  inside('OPTIONS', 2)
  await trunk.next('200 OPTIONS')
  inside('UPDATE', 3)
  await trunk.next('200 UPDATE')
  inside('INVITE', 4, theirs.offer('sendonly'))
  const held = await trunk.next('200 INVITE')
  assert.match(bodyText(held), /a=recvonly/)
  inside('ACK', 4)
  inside('INVITE', 5, theirs.offer('sendrecv'))
  const resumed = await trunk.next('200 INVITE')
  assert.match(bodyText(resumed), /a=sendrecv/)
  inside('ACK', 5)
  inside('REFER', 6)
  await trunk.next('405 REFER')
  inside('BYE', 7)
  await trunk.next('200 BYE')
  const [row] = await rig.noted(1)
  assert.equal(row?.reason, 'The caller hung up.')
})

test('what we cannot do is refused: an extension with 420, another codec with 488', async (t) => {
  const { rig, trunk } = await start(t, { installation: message })
  const headers = [['require', 'answermode']] as const
  trunk.send(rawInvite({ to: rig.target, port: trunk.port, body: audioSdp(), headers }))
  const refusal = await trunk.next('420 INVITE')
  assert.equal(headerOf(refusal, 'unsupported'), 'answermode')
  const g729 = audioSdp().replace(/^m=audio (\d+).*$/m, 'm=audio $1 RTP/AVP 18')
  trunk.send(rawInvite({ to: rig.target, port: trunk.port, body: g729 }))
  await trunk.next('488 INVITE')
  const [row] = await rig.noted(1)
  assert.equal(row?.sip_status, 488)
})

test('a trunk that requires SRTP gets it in both directions, or no call', async (t) => {
  const { rig, trunk } = await start(t, {
    installation: message,
    trunk: { srtp: 'required' },
  })
  trunk.send(rawInvite({ to: rig.target, port: trunk.port, body: audioSdp() }))
  await trunk.next('488 INVITE')
  const local = { address: '127.0.0.1', port: 40_000 }
  const offer = createMediaNegotiator({ local, srtp: 'required' }).offer()
  const invite = rawInvite({ to: rig.target, port: trunk.port, body: offer })
  trunk.send(invite)
  const success = await trunk.next('200 INVITE')
  assert.match(bodyText(success), /^m=audio \d+ RTP\/SAVP /m)
  assert.match(bodyText(success), /^a=crypto:/m)
  trunk.send(insideOf(invite, success, { method: 'ACK', sequence: 1 }))
  trunk.reply(await trunk.nextRequest('BYE'), 200)
  await rig.noted(2)
})

test('more callers than channels get 486, and a channel is free again after BYE', async (t) => {
  const { rig, trunk } = await start(t, {
    installation: message,
    channels: 1,
    speech: clipOf(100_000),
  })
  const invite = rawInvite({ to: rig.target, port: trunk.port, body: audioSdp() })
  trunk.send(invite)
  const success = await trunk.next('200 INVITE')
  trunk.send(insideOf(invite, success, { method: 'ACK', sequence: 1 }))
  trunk.send(rawInvite({ to: rig.target, port: trunk.port, body: audioSdp() }))
  await trunk.next('486 INVITE')
  trunk.send(insideOf(invite, success, { method: 'BYE', sequence: 2 }))
  await trunk.next('200 BYE')
  await rig.noted(2)
  trunk.send(rawInvite({ to: rig.target, port: trunk.port, body: audioSdp() }))
  await trunk.next('200 INVITE')
})

test('a speech server that fails gives 480, never silence', async (t) => {
  const speech = { clipOf: () => Promise.reject(new Error('no voice')) }
  const { rig, trunk } = await start(t, { installation: message, speech })
  trunk.send(rawInvite({ to: rig.target, port: trunk.port, body: audioSdp() }))
  await trunk.next('480 INVITE')
  assert.equal((await rig.noted(1))[0]?.result, 'failed')
})

test('a database that fails gives 503 with a time to try again', async (t) => {
  const broken = async (): Promise<never> => {
    throw new Error('the database is away')
  }
  const withDatabase = (db: Database): Database => ({
    ...db,
    rows: broken,
    row: broken,
    run: broken,
  })
  const { rig, trunk } = await start(t, { withDatabase })
  trunk.send(rawInvite({ to: rig.target, port: trunk.port, body: audioSdp() }))
  const refusal = await trunk.next('503 INVITE')
  assert.equal(headerOf(refusal, 'retry-after'), '5')
  assert.equal(statusOf(refusal), 503)
})
