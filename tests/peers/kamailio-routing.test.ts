// Runs beside others: it waits for most of its 15 s.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Dialog } from '../../src/sip/dialog/dialog.ts'
import { headersOf, type SipRequest } from '../../src/sip/message/message.ts'
import { defaultTiming } from '../../src/sip/transaction/transaction-timing.ts'
import { freeUdpPort } from '../support/free-port.ts'
import { missingFile, missingPeer } from '../support/peers.ts'
import { makeSelfSigned } from '../support/self-signed.ts'
import { audioSdp, call, startAgent } from '../support/sip/test-agents.ts'
import { missingKamailio, startKamailio, type KamailioOptions } from './kamailio-proxy.ts'
import { temporaryFolder } from './peer-program.ts'

const reason = missingKamailio() ?? missingPeer('openssl')
const skip = reason === undefined ? {} : { skip: reason }

/** A callee that answers, and what it saw of the call. */
const startCallee = async (t: TestContext) => {
  const agent = await startAgent(t, { timing: defaultTiming })
  const answered = Promise.withResolvers<{ dialog: Dialog; request: SipRequest }>()
  agent.onInvite((incoming) => {
    incoming.provisional(180, 'Ringing')
    void incoming.accept(audioSdp()).then((dialog) => {
      if (dialog === undefined) answered.reject(new Error('no ACK came'))
      else answered.resolve({ dialog, request: incoming.request })
    })
  })
  return { agent, answered: answered.promise, uri: `sip:127.0.0.1:${agent.localPort}` }
}

const startProxy = (t: TestContext, options: Omit<KamailioOptions, 'certificate'>) =>
  startKamailio(t, { certificate: makeSelfSigned(), ...options })

/** The highest priority first; the next one when it is silent for a second, or refuses with a fault of its own. */
const dispatching = (list: string) => ({
  globals: `loadmodule "dispatcher.so"\nmodparam("dispatcher", "list_file", "${list}")\nmodparam("dispatcher", "flags", 2)`,
  routes: `modparam("tm", "fr_timer", 1000)
failure_route[NEXT] {
  if (t_is_canceled()) exit;
  if (t_branch_timeout() || t_check_status("5[0-9][0-9]")) {
    if (ds_next_dst()) { t_on_failure("NEXT"); t_relay(); exit; }
  }
}`,
  routing: `if (is_method("INVITE") && !has_totag()) {
    record_route();
    if (!ds_select_dst("1", "8")) { sl_send_reply("503", "No gateway"); exit; }
    t_on_failure("NEXT");
    t_relay(); exit;
  }`,
})

const callOver = async (t: TestContext, port: number, transport: 'udp' | 'tcp') => {
  const caller = await startAgent(t, { timing: defaultTiming, listensOnTcp: true })
  return call(caller, `sip:+12025550100@127.0.0.1:${port};transport=${transport}`, {
    ringTimeoutMs: 60_000,
  })
}

for (const first of ['dead', 'refusing'] as const)
  test(
    `Kamailio's dispatcher goes on to the second gateway where the first is ${first}`,
    skip,
    async (t) => {
      const callee = await startCallee(t)
      let refused = 0
      const refusing = await startAgent(t, { timing: defaultTiming })
      refusing.onInvite((incoming) => {
        refused += 1
        incoming.reject(503, 'Service Unavailable')
      })
      const port = first === 'dead' ? await freeUdpPort() : refusing.localPort
      const list = join(temporaryFolder(t, 'dispatcher'), 'list')
      writeFileSync(list, `1 sip:127.0.0.1:${port} 0 20\n1 ${callee.uri} 0 10\n`)
      const proxy = await startProxy(t, { callee: callee.uri, ...dispatching(list) })
      const result = await callOver(t, proxy.port, 'udp')
      assert.ok(result.kind === 'answered', proxy.output())
      const { dialog } = await callee.answered
      assert.equal(refused, first === 'dead' ? 0 : 1)
      await dialog.bye()
      assert.deepEqual(await result.dialog.ended, { by: 'remote' })
    },
  )

test(
  'a dispatcher whose gateways are all dead refuses the call, which may be tried elsewhere',
  skip,
  async (t) => {
    const list = join(temporaryFolder(t, 'dispatcher'), 'list')
    writeFileSync(list, `1 sip:127.0.0.1:${await freeUdpPort()} 0 20\n`)
    const proxy = await startProxy(t, { callee: 'sip:127.0.0.1:9', ...dispatching(list) })
    const result = await callOver(t, proxy.port, 'udp')
    assert.ok(result.kind === 'refused', proxy.output())
    assert.equal(result.response.status, 408)
  },
)

/** Where the schema of topos' tables is installed as text. */
const schema = '/usr/share/kamailio/dbtext/kamailio'

const hiding = {
  topoh: () => ({
    globals: `loadmodule "topoh.so"\nmodparam("topoh", "mask_key", "anything")\nmodparam("topoh", "mask_ip", "127.0.0.8")`,
  }),
  topos: (t: TestContext) => {
    const folder = temporaryFolder(t, 'topos')
    // The installed tables allow no empty context, which topos writes.
    for (const table of ['topos_d', 'topos_t', 'version'])
      writeFileSync(
        join(folder, table),
        readFileSync(join(schema, table), 'utf8').replaceAll('(string)', '(string,null)'),
      )
    return {
      routes: `loadmodule "db_text.so"
modparam("db_text", "db_mode", 1)
loadmodule "topos.so"
modparam("topos", "storage", "db")
modparam("topos", "db_url", "text://${folder}")`,
    }
  },
} as const

for (const kind of ['topoh', 'topos'] as const)
  for (const [hanging, transport] of [
    ['the callee', 'udp'],
    ['the caller', 'tcp'],
  ] as const)
    test(
      `through ${kind}, over ${transport}, a call is answered, changed, and hung up by ${hanging}`,
      skip,
      async (t) => {
        const withoutTables = kind === 'topos' ? missingFile(join(schema, 'topos_d')) : undefined
        if (withoutTables !== undefined) return t.skip(withoutTables)
        const callee = await startCallee(t)
        const proxy = await startProxy(t, { callee: callee.uri, ...hiding[kind](t) })
        const result = await callOver(t, proxy.port, transport)
        assert.ok(result.kind === 'answered', proxy.output())
        const { dialog, request } = await callee.answered
        assert.equal(
          headersOf(request, 'via').length,
          kind === 'topos' ? 1 : 2,
          `the hops are hidden: ${headersOf(request, 'via').join(' | ')} ${proxy.output()}`,
        )
        const offered = Promise.withResolvers<void>()
        result.dialog.onOffer(() => {
          offered.resolve()
          return audioSdp('sendrecv')
        })
        await dialog.reinvite(audioSdp('sendonly'))
        await offered.promise
        const [leaving, staying] =
          hanging === 'the callee' ? [dialog, result.dialog] : [result.dialog, dialog]
        await leaving.bye()
        assert.deepEqual(await staying.ended, { by: 'remote' }, proxy.output())
      },
    )
