import { X509Certificate } from 'node:crypto'
import type { Config } from '../../config/read-config.ts'
import { readTlsFiles } from '../../telephony/tls-files.ts'
import { failed, messageOf, ok, warning, type Finding } from './finding.ts'

const dayMs = 24 * 60 * 60 * 1000
/** Programs such as certbot renew 30 days before the end; half of that left means that none did. */
const soonMs = 14 * dayMs

/**
 * Checks our own certificate of SIP over TLS: that it can be used, and its dates. Nothing is reported where none is set.
 * @param nowMs Unix time
 */
export const checkCertificate = (sip: Config['sip'], nowMs = Date.now()): Finding[] => {
  if (sip.tlsCertificate === undefined && sip.tlsKey === undefined) return []
  let pem: string | undefined
  try {
    pem = readTlsFiles(sip).server?.cert
  } catch (error) {
    return [failed('certificate', messageOf(error))]
  }
  return pem === undefined ? [] : [judge(new X509Certificate(pem), nowMs)]
}

const judge = (certificate: X509Certificate, nowMs: number): Finding => {
  const { subjectAltName, validFromDate: from, validToDate: to } = certificate
  const what = `The certificate of OUTDIAL_SIP_TLS_CERT${subjectAltName === undefined ? '' : ` (${subjectAltName})`}`
  const day = to.toISOString().slice(0, 10)
  if (nowMs < from.getTime())
    return failed(
      'certificate',
      `${what} is not valid before ${from.toISOString()}: check the clock of this machine, or ask for another certificate.`,
    )
  if (nowMs >= to.getTime())
    return failed(
      'certificate',
      `${what} expired on ${day}, so that carriers which verify it refuse connections: renew it; the new file is used without a restart.`,
    )
  if (nowMs >= to.getTime() - soonMs)
    return warning(
      'certificate',
      `${what} expires on ${day}: renew it before; the new file is used without a restart.`,
    )
  return ok('certificate', `${what} is valid until ${day}.`)
}
