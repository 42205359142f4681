// Runs beside others: it waits for most of its 45 s.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { g711Silence } from '../../src/audio/g711.ts'
import { openRtpSession } from '../../src/rtp/rtp-session.ts'
import { until } from '../support/until.ts'
import { callThroughNat, missingNatCall } from './nat-call.ts'
import { missingNat, openNat } from './nat-network.ts'

const reason = missingNat()
const reasonOfCalls = missingNatCall()
const skip = (text: string | undefined) => (text === undefined ? {} : { skip: text })

/** The NAT forgets before the callee hangs up; `npm run outage nat` takes a minute and ten. */
const quick = { bindingSeconds: 8, talkMs: 13_000 }

test(
  'from behind a NAT that forgets quickly, the callee is heard when it hangs up',
  skip(reasonOfCalls),
  async (t) => {
    const { end, contact, natAddress } = await callThroughNat(t, {
      ...quick,
      keepAliveMs: 1_000,
    })
    assert.ok(contact.includes(`@${natAddress}:3`), `our Contact shows the NAT: ${contact}`)
    assert.deepEqual(await end.ask({ do: 'ended', waitMs: 60_000 }), { by: 'remote' })
  },
)

test(
  'without packets that keep the binding, it is not: the NAT does forget',
  skip(reasonOfCalls),
  async (t) => {
    const { end } = await callThroughNat(t, { ...quick, keepAliveMs: 3_600_000 })
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
