import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { audioSdp, call, startAgent, targetOf } from '../../../tests/support/sip/test-agents.ts'

interface Certificate {
  readonly cert: string
  readonly key: string
}

/** A new self-signed certificate for 127.0.0.1, because no private key belongs in a repository. */
const makeCertificate = (): Certificate | undefined => {
  const folder = mkdtempSync(join(tmpdir(), 'sip-tls-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  try {
    const subject = '-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1'
    const kind = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2'
    const files = ['-keyout', key, '-out', cert]
    execFileSync('openssl', ['req', '-x509', ...`${kind} ${subject}`.split(' '), ...files], {
      stdio: 'ignore',
    })
    return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
  } catch (error) {
    if (process.env['CI'] !== undefined) throw error
    return undefined
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const certificate = makeCertificate()
const needsCertificate =
  certificate === undefined ? { skip: 'openssl is not installed to make a certificate' } : {}

// A recently free port number, because TLS listens on a given port.
const freePort = async (): Promise<number> => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : assert.fail()
}

test(
  'a call over TLS is answered and hung up when the certificate is trusted',
  needsCertificate,
  async (t) => {
    assert.ok(certificate)
    const port = await freePort()
    const callee = await startAgent(t, { tls: { server: certificate, port } })
    const caller = await startAgent(t, { tls: { client: { ca: certificate.cert } } })
    callee.onInvite((incoming) => {
      void incoming.accept(audioSdp())
    })
    const result = await call(caller, `sip:+12025550100@127.0.0.1:${port};transport=tls`)
    assert.ok(result.kind === 'answered')
    await result.dialog.bye()
  },
)

test('an untrusted certificate ends the call before any INVITE', needsCertificate, async (t) => {
  assert.ok(certificate)
  const port = await freePort()
  const callee = await startAgent(t, { tls: { server: certificate, port } })
  const caller = await startAgent(t)
  let invites = 0
  callee.onInvite(() => (invites += 1))
  const result = await call(caller, `sips:+12025550100@127.0.0.1:${port}`)
  assert.equal(result.kind === 'unreachable' && result.invited, false)
  assert.equal(invites, 0)
})

test('calls to one destination share one TCP connection', async (t) => {
  const callee = await startAgent(t, { listensOnTcp: true })
  const caller = await startAgent(t)
  const ports = new Set<string>()
  callee.onInvite((incoming) => {
    const via = incoming.request.headers.find(([name]) => name === 'via')?.[1] ?? ''
    ports.add(/rport=(\d+)/.exec(via)?.[1] ?? '')
    incoming.reject(486, 'Busy Here')
  })
  for (let calls = 0; calls < 3; calls += 1) await call(caller, targetOf(callee, ';transport=tcp'))
  assert.equal(ports.size, 1)
})

test('a double CRLF gets a single one back, and garbage closes the connection', async (t) => {
  const agent = await startAgent(t, { listensOnTcp: true })
  const socket = connect(agent.localPort, '127.0.0.1')
  await once(socket, 'connect')
  socket.write('\r\n\r\n')
  const [pong] = await once(socket, 'data')
  assert.equal(String(pong), '\r\n')
  socket.write('OPTIONS sip:a@b SIP/2.0\r\nCall-ID: no-length\r\n\r\n')
  await once(socket, 'close')
})
