import { readNameAddress } from '../message/headers.ts'
import { headersOf, type SipResponse } from '../message/message.ts'
import { parseSipUri } from '../message/uri.ts'

/** Follows 3xx responses of one call within what the administrator allows (RFC 3261 8.1.3.4). */
export interface Redirection {
  /** The next Request-URI; `undefined`: the 3xx ends the call. */
  next(response: SipResponse): string | undefined
}

const maxRedirects = 3
/** Contacts of one response that are looked at. */
const maxContacts = 10

/**
 * Only to hosts of the list, only to the same number, and to none twice: a redirect may choose another server, never
 * another callee.
 */
export const createRedirection = (
  target: string,
  allowedHosts: readonly string[] = [],
): Redirection => {
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()))
  const visited = new Set([target])
  const number = userOf(target)
  return {
    next: (response) => {
      if (response.status < 300 || response.status > 399 || visited.size > maxRedirects)
        return undefined
      const next = contactsOf(response).find((uri) => {
        const host = parseSipUri(uri)?.host.toLowerCase() ?? ''
        return allowed.has(host) && userOf(uri) === number && !visited.has(uri)
      })
      if (next !== undefined) visited.add(next)
      return next
    },
  }
}

/** The user without its parameters (`;npdi`, `;phone-context`), as it means a number. */
const userOf = (uri: string): string | undefined => {
  const user = parseSipUri(uri)?.user?.split(';')[0]
  try {
    return user === undefined ? undefined : decodeURIComponent(user)
  } catch {
    return user
  }
}

/** The best first, by `q` (RFC 3261 20.10). */
const contactsOf = (response: SipResponse): readonly string[] =>
  headersOf(response, 'contact')
    .slice(0, maxContacts)
    .flatMap((value) => {
      const address = readNameAddress(value)
      return address === undefined ? [] : [{ uri: address.uri, q: qOf(address.parameters) }]
    })
    .toSorted((a, b) => b.q - a.q)
    .map(({ uri }) => uri)

const qOf = (parameters: ReadonlyMap<string, string>): number => {
  const q = Number(parameters.get('q') ?? 1)
  return q >= 0 && q <= 1 ? q : 0
}
