import { randomBytes } from 'node:crypto'
import {
  digestResponse,
  parseDigestParameters,
  type Algorithm,
  type Credentials,
  type SignedRequest,
} from './digest.ts'
import { quote } from '../message/header-syntax.ts'
import { BoundedMap } from '../../runtime/bounded-map.ts'

/** The server's side of digest, for user agents that challenge: `qop=auth`, one algorithm, nonces that expire. */
export interface DigestServer {
  /** The value of WWW-Authenticate or Proxy-Authenticate. */
  challenge(): string
  /**
   * Whether an Authorization or Proxy-Authorization value of a request proves the password for one of our nonces.
   */
  verify(value: string | undefined, request: SignedRequest): boolean
}

const maxNonces = 4096

export const createDigestServer = (
  credentials: Credentials,
  { realm, algorithm = 'MD5' }: { readonly realm: string; readonly algorithm?: Algorithm },
): DigestServer => {
  const counts = new BoundedMap<string, number>({ maxSize: maxNonces })
  return {
    challenge: () => {
      const nonce = randomBytes(16).toString('hex')
      counts.set(nonce, 0)
      return `Digest realm=${quote(realm)}, nonce="${nonce}", algorithm=${algorithm}, qop="auth"`
    },
    verify: (value, request) => {
      const given = parseDigestParameters(value ?? '')
      const nonce = given?.get('nonce') ?? ''
      const nc = given?.get('nc') ?? ''
      const seen = counts.get(nonce)
      // A counter that does not rise is a replay (RFC 7616 3.4).
      if (given === undefined || seen === undefined || !(Number.parseInt(nc, 16) > seen))
        return false
      counts.set(nonce, Number.parseInt(nc, 16))
      const challenge = { realm, nonce, algorithm, qop: 'auth', isStale: false } as const
      const cnonce = given.get('cnonce') ?? ''
      const expected = digestResponse({ credentials, challenge, cnonce, nc, request })
      return given.get('username') === credentials.username && given.get('response') === expected
    },
  }
}
