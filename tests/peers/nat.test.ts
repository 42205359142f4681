// Runs beside others: it waits for most of its 45 s.
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { g711Silence } from '../../src/audio/g711.ts'
import { openRtpSession } from '../../src/rtp/rtp-session.ts'
import { headersOf } from '../../src/sip/message/message.ts'
import { missingPeer } from '../support/peers.ts'
import { makeSelfSigned } from '../support/self-signed.ts'
import { audioSdp, startAgent } from '../support/sip/test-agents.ts'
import { until } from '../support/until.ts'
import { missingKamailio, startKamailio } from './kamailio-proxy.ts'
import { missingNat, openNat, type NatEnd } from './nat-network.ts'

const reason = missingNat()
const reasonOfCalls = reason ?? missingKamailio() ?? missingPeer('openssl')
const skip = (text: string | undefined) => (text === undefined ? {} : { skip: text })

/** The NAT forgets what is silent for this long, and the callee hangs up after longer. */
const bindingSeconds = 8
const talkMs = 13_000

/** A call from behind the NAT over Kamailio; the callee hangs up after `talkMs` without a message. */
const callThrough = async (
  t: TestContext,
  keepAliveMs: number,
): Promise<{ readonly end: NatEnd; readonly contact: string; readonly natAddress: string }> => {
  const nat = openNat(t, { bindingSeconds })
  const callee = await startAgent(t, { bindAddress: nat.publicAddress })
  const proxy = await startKamailio(t, {
    certificate: makeSelfSigned(),
    address: nat.publicAddress,
    callee: `sip:${nat.publicAddress}:${callee.localPort}`,
  })
  const hungUp = Promise.withResolvers<void>()
  let contact = ''
  callee.onInvite((incoming) => {
    contact = headersOf(incoming.request, 'contact')[0] ?? ''
    void incoming.accept(audioSdp()).then(async (dialog) => {
      await delay(talkMs)
      await dialog?.bye()
      hungUp.resolve()
    }, hungUp.reject)
  })
  const end = nat.startEnd('inside')
  const target = `sip:+12025550100@${nat.publicAddress}:${proxy.port}`
  const kind = await end.ask({
    do: 'call',
    target,
    bindAddress: nat.privateAddress,
    keepAliveMs,
  })
  assert.equal(kind, 'answered', proxy.output())
  await hungUp.promise
  return { end, contact, natAddress: nat.natAddress }
}

test(
  'from behind a NAT that forgets quickly, the callee is heard when it hangs up',
  skip(reasonOfCalls),
  async (t) => {
    const { end, contact, natAddress } = await callThrough(t, 1_000)
    assert.ok(contact.includes(`@${natAddress}:3`), `our Contact shows the NAT: ${contact}`)
    assert.deepEqual(await end.ask({ do: 'ended', waitMs: 60_000 }), { by: 'remote' })
  },
)

test(
  'without packets that keep the binding, it is not: the NAT does forget',
  skip(reasonOfCalls),
  async (t) => {
    const { end } = await callThrough(t, 3_600_000)
    assert.equal(await end.ask({ do: 'ended', waitMs: 0 }), 'no end')
  },
)

/** 300 ms. */
const limitTicks = 15
const [oldByte, newByte, forgedByte] = [0x10, 0x20, 0x30]

test(
  'a NAT that rebinds in a call is followed within 300 ms both ways, a forged stream never',
  skip(reason),
  async (t) => {
    const nat = openNat(t, {})
    const portRange = { min: 20_000, max: 29_998 }
    const session = await openRtpSession({ bindAddress: nat.publicAddress, portRange })
    t.after(() => session.close())
    const [phone, forger] = [nat.startEnd('inside'), nat.startEnd('nat')]
    session.connect({
      remote: { address: nat.privateAddress, port: 4_000 },
      otherSources: [nat.natAddress],
      codec: 'pcmu',
      payloadType: 0,
    })
    let [sequenceNumber, sent] = [100, 0]
    const tick = async (byte: number): Promise<Uint8Array> => {
      sequenceNumber += 1
      const packet = { do: 'send', address: session.address, port: session.port, sequenceNumber }
      await phone.ask({ ...packet, ssrc: 7, byte })
      await forger.ask({ ...packet, ssrc: 8, byte: forgedByte })
      sent += 2
      await until(
        'the packets to come',
        () => {
          const { packetsReceived, packetsForeign } = session.stats()
          return packetsReceived + packetsForeign >= sent ? true : undefined
        },
        { timeoutMs: 60_000, everyMs: 1 },
      )
      session.send(g711Silence('pcmu'))
      return session.receive()
    }
    const heard: Uint8Array[] = []
    for (let count = 0; count < 50; count += 1) heard.push(await tick(oldByte))
    const before = session.stats().source
    assert.equal(before?.address, nat.natAddress)
    assert.ok(before.port < 40_000)
    nat.rebind()
    const receivedBefore = await phone.ask<number>({ do: 'received' })
    for (let count = 0; count < limitTicks; count += 1) heard.push(await tick(newByte))
    assert.equal(heard.at(-1)?.[80], newByte, 'the new port is not heard')
    assert.ok((session.stats().source?.port ?? 0) >= 40_000)
    assert.ok(heard.every((frame) => frame[80] !== forgedByte))
    await until('the phone to hear us', async () =>
      (await phone.ask<number>({ do: 'received' })) > receivedBefore ? true : undefined,
    )
    assert.equal(await forger.ask({ do: 'received' }), 0)
  },
)
