// Runs beside others: it waits for most of its 10 s.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDigestPolicy } from '../../src/sip/digest/digest-policy.ts'
import { defaultTiming } from '../../src/sip/transaction/transaction-timing.ts'
import { createRegistration } from '../../src/telephony/trunks/registration.ts'
import { missingPeer } from '../support/peers.ts'
import { makeSelfSigned } from '../support/self-signed.ts'
import { call, startAgent } from '../support/sip/test-agents.ts'
import { missingKamailio, startKamailio } from './kamailio-proxy.ts'

const reason = missingKamailio() ?? missingPeer('openssl')
const skip = reason === undefined ? {} : { skip: reason }

const globals = `loadmodule "auth.so"
loadmodule "usrloc.so"
loadmodule "registrar.so"
modparam("usrloc", "db_mode", 0)
modparam("registrar", "max_expires", 120)`

/** Takes calls of registered callers only: 486 shows that one is, 403 that it is not. */
const routing = `if (is_method("REGISTER")) {
    if (!pv_www_authenticate("carrier", "right", "0")) { www_challenge("carrier", "1"); exit; }
    save("location");
    exit;
  }
  if (is_method("INVITE") && !has_totag()) {
    if (!registered("location", "$fu")) { sl_send_reply("403", "Not registered"); exit; }
    sl_send_reply("486", "Busy here"); exit;
  }`

for (const transport of ['udp', 'tcp', 'tls'] as const)
  test(`registers at Kamailio over ${transport}, calls, and deregisters`, skip, async (t) => {
    const certificate = makeSelfSigned()
    const proxy = await startKamailio(t, {
      certificate,
      callee: 'sip:127.0.0.1:9',
      globals,
      routing,
    })
    const agent = await startAgent(t, {
      timing: defaultTiming,
      listensOnTcp: true,
      tls: { client: { ca: certificate.cert } },
    })
    const port = transport === 'tls' ? proxy.tlsPort : proxy.port
    const place = `127.0.0.1:${port};transport=${transport}`
    const statusOfCall = async (): Promise<number | undefined> => {
      const from = 'sip:acct@127.0.0.1'
      const result = await call(agent, `sip:+12025550100@${place}`, { from })
      return result.kind === 'refused' ? result.response.status : undefined
    }
    assert.equal(await statusOfCall(), 403)
    const registered = Promise.withResolvers<void>()
    const registration = createRegistration(
      agent,
      {
        registrar: `sip:${place}`,
        address: 'sip:acct@127.0.0.1',
        credentials: { username: 'acct', password: 'right' },
        digestPolicy: createDigestPolicy(),
        expiresSeconds: 600,
        instance: '0198f000-0000-7000-8000-000000000001',
      },
      {
        onChange: () => {
          if (registration.state().state === 'registered') registered.resolve()
          else registered.reject(new Error(`${registration.state().reason}: ${proxy.output()}`))
        },
      },
    )
    registration.start()
    await registered.promise
    const leftMs = (registration.state().expiresAt?.getTime() ?? 0) - Date.now()
    assert.ok(leftMs <= 120_000, 'the registrar decides the interval')
    assert.equal(await statusOfCall(), 486)
    await registration.stop()
    assert.equal(await statusOfCall(), 403)
  })
