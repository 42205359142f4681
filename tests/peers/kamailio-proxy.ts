import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { freeTcpPort, freeUdpPort } from '../support/free-port.ts'
import { missingPeer } from '../support/peers.ts'
import { until } from '../support/until.ts'
import { startProgram, temporaryFolder } from './peer-program.ts'

export interface KamailioProxy {
  /** TLS with its own certificate for 127.0.0.1. */
  readonly tlsPort: number
  /** UDP and TCP. */
  readonly port: number
  readonly output: () => string
}

export interface KamailioOptions {
  /** PEM of the TLS side. */
  readonly certificate: { readonly cert: string; readonly key: string }
  /** Where new calls go: `sip:…` of the callee. */
  readonly callee: string
  /** Where it listens; 127.0.0.1 by default. */
  readonly address?: string
  /** Statements at the head of the routing of requests. */
  readonly routing?: string
  readonly globals?: string
  /** Further routes, such as `failure_route`, after the modules that every proxy loads. */
  readonly routes?: string
}

/** Why Kamailio cannot run here; under CI that is a failure. */
export const missingKamailio = (): string | undefined => {
  const missing = missingPeer('kamailio')
  if (missing !== undefined) return missing
  if (modulesFolder() !== undefined) return undefined
  if (process.env['CI']) throw new Error('kamailio-tls-modules is not installed')
  return 'kamailio-tls-modules is not installed'
}

const modulesFolder = (): string | undefined => {
  const folders = [
    `/usr/lib/${execFileSync('uname', ['-m']).toString().trim()}-linux-gnu/kamailio/modules`,
    '/usr/lib/kamailio/modules',
    '/usr/lib64/kamailio/modules',
  ]
  return folders.find((folder) => existsSync(join(folder, 'tls.so')))
}

/** A proxy that records its route, and relays everything to one callee, and back by the route. */
export const startKamailio = async (
  context: TestContext,
  {
    certificate,
    callee,
    routing = '',
    globals = '',
    routes = '',
    address = '127.0.0.1',
  }: KamailioOptions,
): Promise<KamailioProxy> => {
  const folder = temporaryFolder(context, 'kamailio')
  // Above all ports of RTP, which other tests take at random, and of connections.
  const [port, tlsPort] = [await freeUdpPort(), await freeTcpPort()]
  writeFileSync(join(folder, 'cert.pem'), certificate.cert)
  writeFileSync(join(folder, 'key.pem'), certificate.key)
  writeFileSync(
    join(folder, 'tls.cfg'),
    `[server:default]\nmethod = TLSv1.2+\nverify_certificate = no\nrequire_certificate = no\nprivate_key = ${folder}/key.pem\ncertificate = ${folder}/cert.pem\n[client:default]\nmethod = TLSv1.2+\nverify_certificate = no\nrequire_certificate = no\n`,
  )
  writeFileSync(
    join(folder, 'kamailio.cfg'),
    `#!KAMAILIO
debug=2
log_stderror=yes
fork=yes
children=2
tcp_children=2
enable_tls=yes
disable_tcp=no
auto_aliases=no
listen=udp:${address}:${port}
listen=tcp:${address}:${port}
listen=tls:${address}:${tlsPort}
mpath="${modulesFolder() ?? ''}"
${globals}
loadmodule "tls.so"
loadmodule "tm.so"
loadmodule "sl.so"
loadmodule "rr.so"
loadmodule "pv.so"
loadmodule "textops.so"
loadmodule "siputils.so"
loadmodule "xlog.so"
modparam("tls", "config", "${folder}/tls.cfg")
${routes}
request_route {
  ${routing}
  if (has_totag()) {
    if (loose_route()) { t_relay(); exit; }
    if (is_method("ACK")) { if (t_check_trans()) t_relay(); exit; }
    sl_send_reply("404", "Not here"); exit;
  }
  if (is_method("CANCEL")) { if (t_check_trans()) t_relay(); exit; }
  if (is_method("OPTIONS")) { sl_send_reply("200", "Keepalive"); exit; }
  record_route();
  $du = "${callee}";
  t_relay();
}
`,
  )
  const program = startProgram(
    context,
    'kamailio',
    [
      '-DD',
      '-E',
      '-f',
      join(folder, 'kamailio.cfg'),
      '-Y',
      folder,
      '-w',
      folder,
      '-m',
      '16',
      '-M',
      '4',
    ],
    folder,
  )
  await until(
    'Kamailio to listen',
    async () => {
      if (program.child.exitCode !== null) throw new Error(`Kamailio ended: ${program.output()}`)
      return (await isListening(address, tlsPort)) ? true : undefined
    },
    { timeoutMs: 60_000 },
  )
  return { port, tlsPort, output: program.output }
}

const isListening = (address: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, address)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => {
      resolve(false)
    })
  })
