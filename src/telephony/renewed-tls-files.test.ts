import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { connect, createServer, type PeerCertificate, type TLSSocket } from 'node:tls'
import type { AddressInfo } from 'node:net'
import { missingPeer } from '../../tests/support/peers.ts'
import { makeSelfSigned } from '../../tests/support/self-signed.ts'
import { silentLogger, type Logger } from '../runtime/logger.ts'
import { anySource } from '../sip/gate/sources.ts'
import { createUserAgent } from '../sip/user-agent/user-agent.ts'
import { followTlsFiles } from './renewed-tls-files.ts'

const missing = missingPeer('openssl')
const needsOpenssl = missing === undefined ? {} : { skip: missing }

/** Files of a certificate and its key, and a clock that makes every look due. */
const openFiles = (t: TestContext) => {
  const folder = mkdtempSync(join(tmpdir(), 'outdial-tls-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [tlsCertificate, tlsKey] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const settings = {
    port: 0,
    tlsCertificate,
    tlsKey,
    tlsPort: undefined,
    tlsAuthorities: undefined,
    tlsName: undefined,
    tlsMinVersion: '1.2' as const,
    tlsVerify: 'insecure' as const,
  }
  // As programs that renew certificates do: a new file takes the name of the old one.
  const replace = (path: string, text: string): void => {
    writeFileSync(`${path}.new`, text)
    renameSync(`${path}.new`, path)
  }
  const first = makeSelfSigned()
  replace(tlsCertificate, first.cert)
  replace(tlsKey, first.key)
  let nowMs = 0
  const told: string[] = []
  const note = (_fields: object, message: string): void => void told.push(message)
  const logger: Logger = { ...silentLogger, info: note, error: note }
  const files = followTlsFiles(settings, logger, () => (nowMs += 60_000))
  return { settings, replace, first, files, told }
}

const startAgent = async (t: TestContext, tls: ReturnType<typeof followTlsFiles>) => {
  const { client, server, port } = tls
  const agent = createUserAgent({
    sources: anySource,
    bindAddress: '127.0.0.1',
    tls: { client, ...(server !== undefined && { server }), port },
  })
  await agent.start()
  t.after(() => agent.stop(50))
  return agent
}

const pemOf = ({ raw }: PeerCertificate): string =>
  `-----BEGIN CERTIFICATE-----\n${(raw.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`

/** The certificate that a listener shows to a new connection. */
const shownAt = async (port: number): Promise<string> => {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const shown = pemOf(socket.getPeerCertificate())
  socket.destroy()
  return shown
}

describe('replaced TLS files', needsOpenssl, () => {
  it('are shown to the next connection that a carrier opens, without a restart', async (t) => {
    const { settings, replace, first, files, told } = openFiles(t)
    const agent = await startAgent(t, files)
    assert.equal(await shownAt(agent.tlsPort), first.cert)
    const second = makeSelfSigned()
    replace(settings.tlsCertificate, second.cert)
    assert.equal(await shownAt(agent.tlsPort), first.cert, 'a certificate without its key waits')
    assert.match(told.join(), /cannot be used: the old ones stay/)
    replace(settings.tlsKey, second.key)
    assert.equal(await shownAt(agent.tlsPort), second.cert)
    assert.match(told.at(-1) ?? '', /were replaced/)
  })

  it('are shown to a carrier that asks for our certificate, at the next connection', async (t) => {
    const { settings, replace, first, files } = openFiles(t)
    const agent = await startAgent(t, files)
    const shown: string[] = []
    const server = createServer(
      { ...first, requestCert: true, rejectUnauthorized: false },
      (socket: TLSSocket) => {
        shown.push(pemOf(socket.getPeerCertificate()))
        socket.on('error', () => undefined)
        socket.destroy()
      },
    ).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const { port } = server.address() as AddressInfo
    const ask = async (): Promise<void> => {
      const secure = once(server, 'secureConnection')
      const asked = agent.ping(`sip:127.0.0.1:${port};transport=tls`, 60_000)
      await secure
      await asked
    }
    await ask()
    const second = makeSelfSigned()
    replace(settings.tlsKey, second.key)
    replace(settings.tlsCertificate, second.cert)
    await ask()
    assert.equal(shown[0], first.cert)
    assert.equal(shown.at(-1), second.cert)
  })

  it('leave everything as it was while one is missing, which is logged once', (t) => {
    const { settings, first, files, told } = openFiles(t)
    rmSync(settings.tlsCertificate)
    assert.equal(files.client().cert, first.cert)
    assert.equal(files.server?.().cert, first.cert)
    assert.equal(told.length, 1)
    assert.match(told[0] ?? '', /cannot be used/)
  })
})
