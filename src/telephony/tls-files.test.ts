import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { missingPeer } from '../../tests/support/peers.ts'
import { makeSelfSigned } from '../../tests/support/self-signed.ts'
import { StartError } from '../runtime/start-error.ts'
import { readTlsFiles, type TlsFileSettings } from './tls-files.ts'

const none: TlsFileSettings = {
  port: 5060,
  tlsCertificate: undefined,
  tlsKey: undefined,
  tlsPort: undefined,
  tlsAuthorities: undefined,
  tlsName: undefined,
  tlsMinVersion: '1.2',
  tlsVerify: 'required',
}
const missing = missingPeer('openssl')
const needsOpenssl = missing === undefined ? {} : { skip: missing }

test('without settings certificates are verified, and nothing listens', () => {
  const { client, server, port } = readTlsFiles(none)
  assert.deepEqual(client, { minVersion: 'TLSv1.2', isInsecure: false })
  assert.equal(server, undefined)
  assert.equal(port, 5061)
  assert.equal(readTlsFiles({ ...none, port: 0 }).port, 0)
  assert.equal(readTlsFiles({ ...none, tlsPort: 7000 }).port, 7000)
})

test(
  'a certificate and its key serve the listener, and trunks that ask for one',
  needsOpenssl,
  (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'outdial-tls-'))
    t.after(() => {
      rmSync(folder, { recursive: true })
    })
    const [own, other] = [makeSelfSigned(), makeSelfSigned()]
    const write = (name: string, text: string): string => {
      const path = join(folder, name)
      writeFileSync(path, text)
      return path
    }
    const tlsCertificate = write('cert.pem', own.cert)
    const tlsKey = write('key.pem', own.key)
    const found = readTlsFiles({ ...none, tlsCertificate, tlsKey, tlsVerify: 'insecure' })
    assert.deepEqual(found.server, own)
    assert.equal(found.client.cert, own.cert)
    assert.equal(found.client.isInsecure, true)

    const faults: readonly (readonly [Partial<TlsFileSettings>, RegExp])[] = [
      [{ tlsCertificate }, /belong together/],
      [{ tlsCertificate, tlsKey: write('other.pem', other.key) }, /not that of/],
      [{ tlsCertificate: tlsKey, tlsKey }, /holds no certificate in PEM/],
      [{ tlsCertificate, tlsKey: tlsCertificate }, /holds no private key in PEM/],
      [
        { tlsAuthorities: join(folder, 'none.pem') },
        /none\.pem of OUTDIAL_SIP_TLS_CA cannot be read/,
      ],
    ]
    for (const [settings, message] of faults)
      assert.throws(
        () => readTlsFiles({ ...none, ...settings }),
        (error) => error instanceof StartError && message.test(error.message),
      )
  },
)
