import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Two certificates of 127.0.0.1 for one key: PEM. */
export interface Certificates {
  readonly key: string
  readonly valid: string
  readonly expired: string
  /** The file with the authority of both. */
  readonly authorityFile: string
}

const curve = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'.split(' ')
const subject = '-subj /CN=127.0.0.1'.split(' ')
const name = '-addext subjectAltName=IP:127.0.0.1'.split(' ')

/** Makes an authority in this folder, a certificate of it that holds, and one that expired a day ago. Needs `openssl`. */
export const makeCertificates = (folder: string): Certificates => {
  const file = (of: string): string => join(folder, of)
  const openssl = (...words: string[]): void => {
    execFileSync('openssl', words, { stdio: 'ignore' })
  }
  const authority = ['-keyout', file('ca.key'), '-out', file('ca.pem')]
  openssl('req', '-x509', ...curve, ...authority, '-subj', '/CN=Outage authority', '-days', '2')
  openssl('req', ...curve, '-keyout', file('key.pem'), '-out', file('csr.pem'), ...subject, ...name)
  for (const [out, days] of [
    ['valid.pem', '2'],
    ['expired.pem', '-1'],
  ] as const) {
    const signed = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-CAcreateserial']
    const written = ['-copy_extensions', 'copy', '-days', days, '-out', file(out)]
    openssl('x509', '-req', '-in', file('csr.pem'), ...signed, ...written)
  }
  const read = (of: string): string => readFileSync(file(of), 'utf8')
  return {
    key: read('key.pem'),
    valid: read('valid.pem'),
    expired: read('expired.pem'),
    authorityFile: file('ca.pem'),
  }
}
