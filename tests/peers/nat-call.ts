import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { headersOf } from '../../src/sip/message/message.ts'
import { missingPeer } from '../support/peers.ts'
import { makeSelfSigned } from '../support/self-signed.ts'
import { audioSdp, startAgent } from '../support/sip/test-agents.ts'
import { missingKamailio, startKamailio } from './kamailio-proxy.ts'
import { missingNat, openNat, type NatEnd } from './nat-network.ts'

interface NatCallOptions {
  readonly bindingSeconds: number
  readonly talkMs: number
  /** Without it as often as the service does. */
  readonly keepAliveMs?: number
}

interface NatCall {
  readonly end: NatEnd
  /** Of our INVITE, as the callee saw it. */
  readonly contact: string
  readonly natAddress: string
}

/** Why no call goes over a NAT here. */
export const missingNatCall = (): string | undefined =>
  missingNat() ?? missingKamailio() ?? missingPeer('openssl')

/** A call from behind a NAT over Kamailio; resolves when the callee, after `talkMs` without a message, has hung up. */
export const callThroughNat = async (
  context: TestContext,
  { bindingSeconds, talkMs, keepAliveMs }: NatCallOptions,
): Promise<NatCall> => {
  const nat = openNat(context, { bindingSeconds })
  const callee = await startAgent(context, { bindAddress: nat.publicAddress })
  const proxy = await startKamailio(context, {
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
    ...(keepAliveMs !== undefined && { keepAliveMs }),
  })
  assert.equal(kind, 'answered', proxy.output())
  await hungUp.promise
  return { end, contact, natAddress: nat.natAddress }
}
