import { X509Certificate, createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { StartError } from '../runtime/start-error.ts'
import type { TlsClientSettings } from '../sip/transport/tls-client.ts'

/** The settings of SIP over TLS, as written: files, not contents. */
export interface TlsFileSettings {
  /** Local SIP port of UDP and TCP; 0 is any free one. */
  readonly port: number
  readonly tlsCertificate: string | undefined
  readonly tlsKey: string | undefined
  readonly tlsPort: number | undefined
  readonly tlsAuthorities: string | undefined
  readonly tlsName: string | undefined
  readonly tlsMinVersion: '1.2' | '1.3'
  readonly tlsVerify: 'required' | 'insecure'
}

/** What a user agent needs for TLS. Without `server` it opens connections only. */
export interface FiledTls {
  readonly client: TlsClientSettings
  readonly server?: { readonly cert: string; readonly key: string }
  readonly port: number
}

/** Reads the files. Throws `StartError` for one that is missing, unreadable or of another kind. */
export const readTlsFiles = (settings: TlsFileSettings): FiledTls => {
  const { tlsCertificate, tlsKey, tlsAuthorities, tlsName, tlsMinVersion } = settings
  if ((tlsCertificate === undefined) !== (tlsKey === undefined))
    throw new StartError(
      'OUTDIAL_SIP_TLS_CERT and OUTDIAL_SIP_TLS_KEY belong together: set both, or neither.',
    )
  const own =
    tlsCertificate !== undefined && tlsKey !== undefined ? pair(tlsCertificate, tlsKey) : undefined
  return {
    client: {
      ...own,
      ...(tlsAuthorities === undefined
        ? {}
        : { ca: certificateIn('OUTDIAL_SIP_TLS_CA', tlsAuthorities) }),
      ...(tlsName === undefined ? {} : { serverName: tlsName }),
      minVersion: `TLSv${tlsMinVersion}`,
      isInsecure: settings.tlsVerify === 'insecure',
    },
    ...(own === undefined ? {} : { server: own }),
    port: settings.tlsPort ?? (settings.port === 0 ? 0 : Math.min(settings.port + 1, 65_535)),
  }
}

const pair = (certificate: string, key: string): { cert: string; key: string } => {
  const found = {
    cert: certificateIn('OUTDIAL_SIP_TLS_CERT', certificate),
    key: contents('OUTDIAL_SIP_TLS_KEY', key, 'a private key', createPrivateKey),
  }
  if (!new X509Certificate(found.cert).checkPrivateKey(createPrivateKey(found.key)))
    throw new StartError('The key in OUTDIAL_SIP_TLS_KEY is not that of OUTDIAL_SIP_TLS_CERT.')
  return found
}

const certificateIn = (setting: string, path: string): string =>
  contents(setting, path, 'a certificate', (pem) => new X509Certificate(pem))

const contents = (
  setting: string,
  path: string,
  kind: string,
  check: (pem: string) => unknown,
): string => {
  let pem: string
  try {
    pem = readFileSync(path, 'utf8')
  } catch (cause) {
    throw new StartError(`The file ${path} of ${setting} cannot be read.`, { cause })
  }
  try {
    check(pem)
    return pem
  } catch (cause) {
    throw new StartError(
      `The file ${path} of ${setting} holds no ${kind.replace(/^a /, '')} in PEM.`,
      {
        cause,
      },
    )
  }
}
