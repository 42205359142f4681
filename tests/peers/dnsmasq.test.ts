// Runs beside others: it waits for most of its 10 s.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { parseSipUri } from '../../src/sip/message/uri.ts'
import { createSystemNameService } from '../../src/sip/transport/name-service.ts'
import { createResolver, type SipResolver } from '../../src/sip/transport/resolver.ts'
import { freeTcpPort, freeUdpPort } from '../support/free-port.ts'
import { missingPeer } from '../support/peers.ts'
import { audioSdp, call, startAgent } from '../support/sip/test-agents.ts'
import { until } from '../support/until.ts'
import { startProgram, temporaryFolder } from './peer-program.ts'

const missing = missingPeer('dnsmasq')
const skip = missing === undefined ? {} : { skip: missing }

/** A name server with these records, and a resolver that asks only it. */
const startDns = async (t: TestContext, records: readonly string[]): Promise<SipResolver> => {
  const port = await freeUdpPort()
  const flags = ['--no-daemon', '--no-resolv', '--no-hosts', '--conf-file=/dev/null', '--user=root']
  const place = [`--port=${port}`, '--listen-address=127.0.0.1', '--bind-interfaces']
  const program = startProgram(
    t,
    'dnsmasq',
    [...flags, ...place, '--pid-file', '--local=/test/', ...records],
    temporaryFolder(t, 'dnsmasq'),
  )
  const names = createSystemNameService([`127.0.0.1:${port}`])
  await until(
    'dnsmasq to answer',
    async () => {
      if (program.child.exitCode !== null) throw new Error(`dnsmasq ended: ${program.output()}`)
      const found = await names.findRecords('ready.test', 4).catch(() => [])
      return found.length > 0 ? true : undefined
    },
    { timeoutMs: 60_000 },
  )
  return createResolver(4, { names })
}

const ready = '--host-record=ready.test,127.0.0.1'
const places = async (resolver: SipResolver, text: string): Promise<readonly string[]> => {
  const uri = parseSipUri(text)
  assert.ok(uri)
  return (await resolver.locate(uri)).map(({ protocol, port }) => `${protocol} ${port}`)
}

test('SRV: the first server is dead, and the call reaches the second', skip, async (t) => {
  const callee = await startAgent(t)
  const dead = await freeUdpPort()
  const resolver = await startDns(t, [
    ready,
    '--host-record=a.carrier.test,127.0.0.1',
    '--host-record=b.carrier.test,127.0.0.1',
    `--srv-host=_sip._udp.carrier.test,b.carrier.test,${callee.localPort},20,1`,
    `--srv-host=_sip._udp.carrier.test,a.carrier.test,${dead},10,1`,
  ])
  assert.deepEqual(await places(resolver, 'sip:carrier.test'), [
    `udp ${dead}`,
    `udp ${callee.localPort}`,
  ])
  callee.onInvite((incoming) => void incoming.accept(audioSdp()))
  const caller = await startAgent(t, { resolver })
  const result = await call(caller, 'sip:+12025550100@carrier.test')
  assert.ok(result.kind === 'answered')
  await result.dialog.bye()
})

test('NAPTR: the carrier prefers TCP, and gets the call by TCP', skip, async (t) => {
  const callee = await startAgent(t, { listensOnTcp: true })
  const resolver = await startDns(t, [
    ready,
    '--host-record=a.carrier.test,127.0.0.1',
    '--naptr-record=carrier.test,10,10,s,SIP+D2T,,_sip._tcp.carrier.test',
    '--naptr-record=carrier.test,20,10,s,SIP+D2U,,_sip._udp.carrier.test',
    `--srv-host=_sip._tcp.carrier.test,a.carrier.test,${callee.localPort},10,1`,
    `--srv-host=_sip._udp.carrier.test,a.carrier.test,${await freeTcpPort()},10,1`,
  ])
  const transports: string[] = []
  callee.onInvite((incoming) => {
    transports.push(incoming.request.headers.find(([name]) => name === 'via')?.[1] ?? '')
    incoming.reject(486, 'Busy Here')
  })
  const caller = await startAgent(t, { resolver })
  const result = await call(caller, 'sip:+12025550100@carrier.test')
  assert.equal(result.kind, 'refused')
  assert.match(transports[0] ?? '', /^SIP\/2\.0\/TCP/)
})

test('a name that DNS does not know leaves the call undialled', skip, async (t) => {
  const resolver = await startDns(t, [ready])
  const caller = await startAgent(t, { resolver })
  const result = await call(caller, 'sip:+12025550100@nowhere.test')
  assert.ok(result.kind === 'unreachable')
  assert.equal(result.invited, false)
  assert.match(result.reason, /nowhere\.test has no address/)
})
