import { isIP, isIPv6, type BlockList } from 'node:net'
import type { RequestHead } from './request-head.ts'

/** Decides by address alone; takes addresses in the format of sockets. */
export type IsTrusted = (address: string) => boolean

/** An IPv4 address as a socket of both families tells it is that address. */
const plain = (address: string): string =>
  address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address

/** Whether an address is in the list; none is in no list. */
export const trustNetworks =
  (list: BlockList | undefined): IsTrusted =>
  (given) => {
    const address = plain(given)
    const family = isIP(address)
    if (!list || family === 0) return false
    return list.check(address, family === 6 ? 'ipv6' : 'ipv4')
  }

/** Addresses that a list of proxies names at most; further ones were put in front by the client. */
const maxForwarded = 32

/**
 * The client of a request: the peer, or, if the peer is a trusted proxy, the last address in `X-Forwarded-For` that
 * is no trusted proxy. Earlier addresses are only a client's claim.
 */
export const clientAddress = (
  { rawHeaders }: Pick<RequestHead, 'rawHeaders'>,
  peer: string,
  isTrusted: IsTrusted,
): string => {
  if (!isTrusted(peer)) return peer
  const forwarded = rawHeaders.filter(
    (_value, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'x-forwarded-for',
  )
  let client = peer
  for (const text of forwarded.join(',').split(',').toReversed().slice(0, maxForwarded)) {
    const address = text.trim().replace(/^\[|\]$/g, '')
    if (isIP(address) === 0) return client
    client = plain(address)
    if (!isTrusted(client)) return client
  }
  return client
}

/** What counts as one address: a subscriber holds a whole /64 of IPv6. */
export const networkOf = (given: string): string => {
  const address = plain(given)
  return isIPv6(address) ? expandIPv6(address).slice(0, 4).join(':') : address
}

const expandIPv6 = (address: string): string[] => {
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? []
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  return [...before, ...(tail === undefined ? [] : zeros), ...after]
}
