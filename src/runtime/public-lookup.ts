import { lookup as resolveName } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from './private-address.ts'

/** An address that a tenant entered leads where tenants may not go. */
class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError'
  constructor() {
    super('The address points into a private network.')
  }
}

/**
 * A `lookup` for sockets that may only go to public hosts. It judges the very address that is connected to, so that a
 * name cannot change between check and use. Literal addresses are never looked up: `refusePrivateLiteral` judges them.
 */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  resolveName(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, '')
    const isPublic =
      addresses.length > 0 && addresses.every(({ address }) => isPublicAddress(address))
    if (!isPublic) return callback(new PrivateAddressError(), '')
    if (options.all === true) callback(null, addresses)
    else callback(null, addresses[0]?.address ?? '', addresses[0]?.family)
  })
}

/** Throws `PrivateAddressError` if the URL's host is an address of no public host. Names pass: they are looked up. */
export const refusePrivateLiteral = (url: URL): void => {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw new PrivateAddressError()
}
