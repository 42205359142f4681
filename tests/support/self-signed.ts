import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new certificate for 127.0.0.1, PEM. Needs `openssl`. */
export const makeSelfSigned = (days = 2): { readonly cert: string; readonly key: string } => {
  const folder = mkdtempSync(join(tmpdir(), 'outdial-tls-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  try {
    const subject = '-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1'
    const kind = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days '
    const files = ['-keyout', key, '-out', cert]
    const options = ['req', '-x509', ...`${kind}${days} ${subject}`.split(' '), ...files]
    execFileSync('openssl', options, { stdio: 'ignore' })
    return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
