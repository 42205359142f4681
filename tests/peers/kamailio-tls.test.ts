// Runs beside others: it waits for most of its 10 s.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headersOf } from '../../src/sip/message/message.ts'
import { missingKamailio, startKamailio } from './kamailio-proxy.ts'
import { missingPeer } from '../support/peers.ts'
import { makeSelfSigned } from '../support/self-signed.ts'
import { audioSdp, call, startAgent } from '../support/sip/test-agents.ts'
import { defaultTiming } from '../../src/sip/transaction/transaction-timing.ts'

const reason = missingKamailio() ?? missingPeer('openssl')
const skip = reason === undefined ? {} : { skip: reason }

test(
  'over TLS through Kamailio without aliases, the callee hangs up and is heard on the same connection',
  skip,
  async (t) => {
    const certificate = makeSelfSigned()
    const callee = await startAgent(t, { timing: defaultTiming })
    const proxy = await startKamailio(t, {
      certificate,
      callee: `sip:127.0.0.1:${callee.localPort}`,
      globals: 'tcp_accept_aliases=no',
    })
    const answered = Promise.withResolvers<() => Promise<void>>()
    let vias: readonly string[] = []
    callee.onInvite((incoming) => {
      vias = headersOf(incoming.request, 'via')
      void incoming.accept(audioSdp()).then((dialog) => {
        if (dialog === undefined) answered.reject(new Error('no ACK came'))
        else answered.resolve(() => dialog.bye())
      })
    })
    const caller = await startAgent(t, {
      timing: defaultTiming,
      tls: { client: { ca: certificate.cert } },
    })
    const target = `sip:+12025550100@127.0.0.1:${proxy.tlsPort};transport=tls`
    const result = await call(caller, target)
    assert.ok(result.kind === 'answered', proxy.output())
    assert.match(vias.at(-1) ?? '', /;alias/)
    const hangUp = await answered.promise
    await hangUp()
    assert.deepEqual(await result.dialog.ended, { by: 'remote' })
  },
)

test(
  'over TLS with a certificate of our own, Kamailio reaches our listener by Contact',
  skip,
  async (t) => {
    const [certificate, own] = [makeSelfSigned(), makeSelfSigned()]
    const callee = await startAgent(t, { timing: defaultTiming })
    const proxy = await startKamailio(t, {
      certificate,
      callee: `sip:127.0.0.1:${callee.localPort}`,
      globals: 'tcp_accept_aliases=no',
    })
    const contacts: string[] = []
    callee.onInvite((incoming) => {
      contacts.push(...headersOf(incoming.request, 'contact'))
      void incoming.accept(audioSdp()).then((dialog) => dialog?.bye())
    })
    const caller = await startAgent(t, {
      timing: defaultTiming,
      tls: { client: { ca: certificate.cert }, server: own },
    })
    const target = `sip:+12025550100@127.0.0.1:${proxy.tlsPort};transport=tls`
    const result = await call(caller, target)
    assert.ok(result.kind === 'answered', proxy.output())
    assert.deepEqual(await result.dialog.ended, { by: 'remote' })
    assert.match(contacts[0] ?? '', /^<sip:outdial@127\.0\.0\.1:\d+;transport=tls>$/)
  },
)
