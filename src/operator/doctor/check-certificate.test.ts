import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { missingPeer } from '../../../tests/support/peers.ts'
import { makeSelfSigned } from '../../../tests/support/self-signed.ts'
import { readConfig } from '../../config/read-config.ts'
import { checkCertificate } from './check-certificate.ts'

const missing = missingPeer('openssl')
const needsOpenssl = missing === undefined ? {} : { skip: missing }
const folder = mkdtempSync(join(tmpdir(), 'outdial-certificate-'))
after(() => {
  rmSync(folder, { recursive: true })
})

const dayMs = 86_400_000

const sipWith = ({ cert, key }: { cert: string; key: string }) => {
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  writeFileSync(certFile, cert)
  writeFileSync(keyFile, key)
  return readConfig({ OUTDIAL_SIP_TLS_CERT: certFile, OUTDIAL_SIP_TLS_KEY: keyFile }).sip
}

test('without a certificate of our own there is nothing to report', () => {
  assert.deepEqual(checkCertificate(readConfig({}).sip), [])
})

for (const [inDays, status, words] of [
  [0, 'ok', /IP Address:127\.0\.0\.1.* is valid until \d{4}-\d\d-\d\d\.$/],
  [47, 'warning', /expires on .*renew it before/],
  [61, 'failed', /expired on .*renew it/],
  [-2, 'failed', /is not valid before .*check the clock/],
] as const)
  test(
    `a certificate of 60 days, ${inDays} days after it was made: ${status}`,
    needsOpenssl,
    () => {
      const sip = sipWith(makeSelfSigned(60))
      const [found] = checkCertificate(sip, Date.now() + inDays * dayMs)
      assert.equal(found?.status, status)
      assert.match(found?.message ?? '', words)
    },
  )

test('a key of another certificate, and a file that is none, are named', needsOpenssl, () => {
  const [one, other] = [makeSelfSigned(), makeSelfSigned()]
  const [mixed] = checkCertificate(sipWith({ cert: one.cert, key: other.key }))
  assert.equal(mixed?.status, 'failed')
  assert.match(mixed?.message ?? '', /OUTDIAL_SIP_TLS_KEY is not that of OUTDIAL_SIP_TLS_CERT/)
  const [none] = checkCertificate(sipWith({ cert: 'nothing', key: one.key }))
  assert.match(none?.message ?? '', /holds no certificate in PEM/)
})
