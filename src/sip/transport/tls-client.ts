import { isIP } from 'node:net'
import {
  checkServerIdentity,
  connect,
  type ConnectionOptions,
  type PeerCertificate,
  type TLSSocket,
} from 'node:tls'
import type { Destination } from '../message/destination.ts'

/** How we open TLS connections to one trunk. */
export interface TlsClientSettings {
  /** PEM of the authorities that are trusted in place of the system's. */
  readonly ca?: string
  /** Our own certificate and key, PEM, for a server that asks for one. */
  readonly cert?: string
  readonly key?: string
  /** The name the server's certificate must have; by default the host of the trunk's URI. */
  readonly serverName?: string
  /** The oldest accepted version; 1.2 by default. */
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3'
  /** The server's certificate is not checked at all: only by the administrator's explicit word. */
  readonly isInsecure?: boolean
}

/** Opens a connection. It is secure once it emits `secureConnect`. */
export const connectTlsClient = (
  destination: Destination,
  settings: TlsClientSettings,
): TLSSocket => {
  const { address, port } = destination
  const name = settings.serverName ?? destination.serverName ?? address
  const { ca, cert, key, minVersion = 'TLSv1.2', isInsecure = false } = settings
  const options: ConnectionOptions = {
    host: address,
    port,
    minVersion,
    rejectUnauthorized: !isInsecure,
    checkServerIdentity: (_host, certificate) => wrongNameOf(name, certificate),
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    // Server Name Indication carries names only (RFC 6066 3).
    ...(isIP(name) === 0 ? { servername: name } : {}),
  }
  return connect(options)
}

/** RFC 5922 7.2: a `sip:` URI in the certificate identifies the domain as a DNS name does. */
const wrongNameOf = (name: string, certificate: PeerCertificate): Error | undefined => {
  const uris = (certificate.subjectaltname ?? '').split(', ').map((each) => each.toLowerCase())
  if (uris.includes(`uri:sip:${name.toLowerCase()}`)) return undefined
  return checkServerIdentity(name, certificate)
}

/**
 * Why a connection could not be opened or broke, for people: the fault and its code. The text has no full stop, and
 * nothing that the peer can choose except the names of its certificate.
 */
export const explainConnectionError = (error: unknown): string => {
  const fault = rootOf(error)
  const code = fault.code ?? ''
  const known = explanations.find(({ matches }) => matches.test(code))
  if (known !== undefined) return `${known.text} (${code})`
  return code === '' ? fault.message : `${fault.message} (${code})`
}

type Fault = Error & { readonly code?: string }

/** The system's or OpenSSL's own error below ours. */
const rootOf = (error: unknown): Fault => {
  if (!(error instanceof Error)) return new Error(String(error))
  return error.cause instanceof Error && !('code' in error && error.code !== 'ABORT_ERR')
    ? rootOf(error.cause)
    : error
}

const explanations: readonly { readonly matches: RegExp; readonly text: string }[] = [
  { matches: /^CERT_HAS_EXPIRED$/, text: "the server's TLS certificate has expired" },
  { matches: /^CERT_NOT_YET_VALID$/, text: "the server's TLS certificate is not valid yet" },
  {
    matches: /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN)$/,
    text: "the server's TLS certificate is self-signed",
  },
  {
    matches: /^UNABLE_TO_(GET_ISSUER_CERT|GET_ISSUER_CERT_LOCALLY|VERIFY_LEAF_SIGNATURE)$/,
    text: "the server's TLS certificate comes from an unknown authority",
  },
  {
    matches: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    text: "the server's TLS certificate is for another name",
  },
  {
    matches: /CERTIFICATE_REQUIRED|ALERT_(BAD|UNKNOWN|NO)_CERTIFICATE|ALERT_UNKNOWN_CA/,
    text: 'the server refused our TLS certificate, or asks for one',
  },
  {
    matches: /PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS/,
    text: 'the server has no TLS version in common with us',
  },
  {
    matches: /^(ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG)$/,
    text: 'the server speaks no TLS at this port',
  },
  { matches: /^ECONNREFUSED$/, text: 'connection refused' },
  { matches: /^ECONNRESET$|^EPIPE$/, text: 'the server closed the connection' },
  { matches: /^(EHOSTUNREACH|ENETUNREACH)$/, text: 'no route to the server' },
  { matches: /^(ABORT_ERR|ETIMEDOUT)$/, text: 'no answer in time' },
]
